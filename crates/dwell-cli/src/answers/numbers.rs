//! Numbers as other programs and people write them, with how they are written here.

use dwell::Decimal;

/// Longer texts are not mended.
const LONGEST: usize = 200;
/// Characters that are written for a minus sign: hyphens, dashes, and the minus sign itself.
const DASHES: [char; 8] =
    ['\u{2010}', '\u{2011}', '\u{2012}', '\u{2013}', '\u{2014}', '\u{2212}', '\u{fe63}', '\u{ff0d}'];
/// Characters around a number or a list of numbers that are left out here.
const AROUND: [char; 14] =
    ['"', '\'', '\u{2018}', '\u{2019}', '\u{201a}', '\u{201c}', '\u{201d}', '\u{201e}', '(', ')', '[', ']', '{', '}'];

/// What is typed for a number that is no number as it was given.
pub(crate) fn number(given: &str) -> Option<String> {
    if given.len() > LONGEST || is_number(given) {
        return None;
    }
    let bare = without_ornaments(given);
    if bare.ends_with(['e', 'E']) && is_number(&bare[..bare.len() - 1]) {
        return Some(format!("the exponent is missing: {bare}5, or {} without it", &bare[..bare.len() - 1]));
    }
    let mended = mended(&bare)?;
    if let Some((before, behind)) = bare.split_once(',')
        && behind.len() == 3
    {
        let (whole, fraction) = (format!("{before}{behind}"), format!("{before}.{behind}"));
        if is_number(&whole) && is_number(&fraction) {
            return Some(format!("write {whole}, or {fraction} for a fraction"));
        }
    }
    let why = if given.contains(DASHES) {
        "the minus sign is a hyphen:"
    } else if given.contains(',') && mended.contains('.') {
        "write a decimal point:"
    } else {
        "write"
    };
    Some(format!("{why} {mended}"))
}

/// What is typed for a whole number that has separators of thousands or is no number as it was given.
pub(crate) fn whole(given: &str) -> Option<String> {
    let bare = without_ornaments(given);
    if let Some(power) = power(&bare) {
        return Some(format!("write {power}"));
    }
    let mut groups = bare.split([',', '.', '_', '\'', ' ', '\u{a0}', '\u{2009}', '\u{202f}']);
    let is_digits = |group: &str| !group.is_empty() && group.bytes().all(|byte| byte.is_ascii_digit());
    let first = groups.next().filter(|first| is_digits(first) && first.len() <= 3)?;
    let others: Vec<&str> = groups.collect();
    if given.len() <= LONGEST && !others.is_empty() && others.iter().all(|group| is_digits(group) && group.len() == 3) {
        return Some(format!("write {first}{}", others.concat()));
    }
    number(given).filter(|_| others.is_empty())
}

/// The value of a power of whole numbers, such as 2^33.
fn power(text: &str) -> Option<u64> {
    let (base, exponent) = text.split_once("**").or_else(|| text.split_once('^'))?;
    base.trim().parse::<u64>().ok()?.checked_pow(exponent.trim().parse().ok()?)
}

/// What is typed for a list of `count` numbers, where it can be told which numbers are meant. `form` shows the list.
pub(crate) fn list(given: &str, count: usize, form: &str) -> Option<String> {
    if given.len() > LONGEST {
        return None;
    }
    let bare = without_ornaments(given);
    let numbers = [bare.split(',').map(str::trim).collect::<Vec<_>>(), bare.split([';', ' ', ':']).collect()]
        .into_iter()
        .map(|parts| parts.into_iter().filter(|part| !part.is_empty()).map(str::to_owned).collect::<Vec<_>>())
        .chain((count == 2).then(|| complex(&bare)).flatten())
        .chain(with_decimal_commas(&bare, count))
        .find_map(|parts| {
            let mended: Option<Vec<String>> = parts.iter().map(|part| mended_or_same(part)).collect();
            mended.filter(|numbers| numbers.len() == count)
        })?;
    Some(format!("write {form}, without spaces or brackets: {}", numbers.join(",")))
}

/// What is typed for a size in pixels, where it can be told which sides are meant.
pub(crate) fn size(given: &str) -> Option<String> {
    let bare = without_ornaments(given);
    let sides: Vec<&str> =
        bare.split([',', '*', ' ', ':', ';', '/', 'x', 'X', 'b', 'y']).filter(|side| !side.is_empty()).collect();
    let is_side = |side: &str| side.len() < 10 && side.parse::<u32>().is_ok_and(|side| side > 0);
    match sides.as_slice() {
        [width, height] if is_side(width) && is_side(height) => Some(format!("write WxH: --size {width}x{height}")),
        [name] if name.split_once('@').is_some_and(|(_, dpi)| is_side(dpi)) => Some(format!("write {name}dpi")),
        [side] if is_side(side) => Some(format!("write both sides, WxH, such as {side}x{side} or 1920x1080")),
        _ => None,
    }
}

/// What is typed where a list of `count` numbers was given as separate arguments, of which the list has the first.
pub(crate) fn apart(flag: &str, first: &str, next: &str, joint: char) -> Option<String> {
    let first = without_ornaments(first);
    let (first, next) = (mended_or_same(first.trim_end_matches(','))?, mended_or_same(&without_ornaments(next))?);
    Some(format!("write both with \"{joint}\" and no space between them: {flag} {first}{joint}{next}"))
}

/// The text with hyphens for dashes, and without quotation marks, brackets and spaces around it.
fn without_ornaments(text: &str) -> String {
    let hyphened: String = text.chars().map(|c| if DASHES.contains(&c) { '-' } else { c }).collect();
    hyphened.trim_matches(|c: char| c.is_whitespace() || AROUND.contains(&c)).to_owned()
}

fn is_number(text: &str) -> bool {
    text.parse::<Decimal>().is_ok()
}

fn mended_or_same(text: &str) -> Option<String> {
    if is_number(text) { Some(text.trim().to_owned()) } else { mended(&without_ornaments(text)) }
}

/// The number that a text without ornaments means.
fn mended(bare: &str) -> Option<String> {
    let lower = bare.to_ascii_lowercase();
    let no_unit = ["\u{b0}", "degrees", "degree", "deg", "x", "\u{d7}", "px", "i"]
        .into_iter()
        .find_map(|unit| lower.strip_suffix(unit))
        .or_else(|| lower.strip_prefix(['x', '=']))
        .unwrap_or(&lower)
        .trim();
    let plain: String =
        no_unit.chars().filter(|c| !matches!(c, '_' | '\'' | '\u{a0}' | '\u{2009}' | '\u{202f}')).collect();
    let spaceless = plain.replace(' ', "");
    let candidates = [
        plain.clone(),
        // One comma with other than three digits behind it is a decimal comma; several are separators of thousands.
        plain.replacen(',', ".", if plain.matches(',').count() == 1 { 1 } else { 0 }),
        plain.replace(',', ""),
        power_of_ten(&spaceless).unwrap_or_default(),
        spaceless,
    ];
    candidates.into_iter().find(|candidate| candidate != bare && is_number(candidate)).or_else(|| {
        // Only the ornaments were wrong.
        is_number(bare).then(|| bare.to_owned())
    })
}

/// `10^5`, `2*10^5` and `2x10**5` with an exponent: `1e5`, `2e5`.
fn power_of_ten(text: &str) -> Option<String> {
    let (base, exponent) = text.split_once("**").or_else(|| text.split_once('^'))?;
    let factor = base.strip_suffix("10")?.trim_end_matches(['*', 'x', '\u{d7}', '\u{b7}']);
    let factor = if factor.is_empty() { "1" } else { factor };
    Some(format!("{factor}e{}", exponent.trim_matches(['(', ')'])))
}

/// The parts of a complex number: `-0.7+0.1i` has -0.7 and 0.1.
fn complex(text: &str) -> Option<Vec<String>> {
    let bare: String = text.chars().filter(|c| !c.is_whitespace() && *c != '*').collect();
    let bare = bare.strip_suffix(['i', 'j', 'I', 'J'])?;
    // The last sign that is none of an exponent.
    let sign = bare
        .char_indices()
        .rev()
        .find(|(at, c)| matches!(c, '+' | '-') && *at > 0 && !bare[..*at].ends_with(['e', 'E']));
    let (at, _) = sign?;
    let imaginary = bare[at..].trim_start_matches('+');
    let imaginary = if matches!(imaginary, "" | "-") { format!("{imaginary}1") } else { imaginary.to_owned() };
    Some(vec![bare[..at].to_owned(), imaginary])
}

/// `-0,7,0,1` and `-0,7;0,1` have twice as many parts as numbers: each pair is a number with a decimal comma.
fn with_decimal_commas(text: &str, count: usize) -> Option<Vec<String>> {
    let parts: Vec<&str> = text.split([',', ';', ' ']).filter(|part| !part.is_empty()).collect();
    (parts.len() == 2 * count).then(|| parts.chunks(2).map(|pair| pair.join(".")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_mended() {
        for (given, remedy) in [
            ("1,5", "write a decimal point: 1.5"),
            ("\u{2212}0.7", "the minus sign is a hyphen: -0.7"),
            ("\u{2013}0.7", "the minus sign is a hyphen: -0.7"),
            ("2x", "write 2"),
            ("45\u{b0}", "write 45"),
            ("45deg", "write 45"),
            ("\u{201c}2\u{201d}", "write 2"),
            ("10^9", "write 1e9"),
            ("2.5*10^9", "write 2.5e9"),
            ("1_000", "write 1000"),
            ("1,000,000", "write 1000000"),
            ("1,500", "write 1500, or 1.500 for a fraction"),
            ("1e", "the exponent is missing: 1e5, or 1 without it"),
        ] {
            assert_eq!(number(given).as_deref(), Some(remedy), "{given}");
        }
        for given in ["", "x", "nan", "-0.5.1", &"9,".repeat(1000)] {
            assert_eq!(number(given), None, "{given}");
        }
    }

    #[test]
    fn whole_numbers_have_no_separators() {
        for given in ["10,000", "10.000", "10 000", "10_000", "10'000"] {
            assert_eq!(whole(given).as_deref(), Some("write 10000"), "{given}");
        }
        assert_eq!(whole("(5)").as_deref(), Some("write 5"));
        assert_eq!([whole("5.5"), whole("many"), whole("")], [None, None, None]);
    }

    #[test]
    fn lists_are_mended() {
        for (given, numbers) in [
            ("(-0.7, 0.1)", "-0.7,0.1"),
            ("-0.7 0.1", "-0.7,0.1"),
            ("-0.7;0.1", "-0.7,0.1"),
            ("-0.7+0.1i", "-0.7,0.1"),
            ("-0.7 - 0.1*i", "-0.7,-0.1"),
            ("1e-5-2e-5i", "1e-5,-2e-5"),
            ("1+i", "1,1"),
            ("-0,7;0,1", "-0.7,0.1"),
            ("-0,7,0,1", "-0.7,0.1"),
            ("\u{2212}0.7,0.1", "-0.7,0.1"),
        ] {
            let remedy = format!("write RE,IM, without spaces or brackets: {numbers}");
            assert_eq!(list(given, 2, "RE,IM").as_deref(), Some(remedy.as_str()), "{given}");
        }
        for given in ["", "1", "a,b", "1,2,3", "i"] {
            assert_eq!(list(given, 2, "RE,IM"), None, "{given}");
        }
    }

    #[test]
    fn sizes_are_mended() {
        for given in ["1920,1080", "1920*1080", "1920 x 1080", "1920 by 1080", "(1920, 1080)", "1920:1080"] {
            assert_eq!(size(given).as_deref(), Some("write WxH: --size 1920x1080"), "{given}");
        }
        assert!(size("1920").unwrap().contains("1920x1080"));
        assert_eq!([size("0x0"), size("a"), size("1x2x3"), size("")], [None, None, None, None]);
    }

    #[test]
    fn numbers_of_a_list_may_be_separate_arguments() {
        let remedy = apart("--center", "-0.7,", "0.1", ',').unwrap();
        assert!(remedy.ends_with("--center -0.7,0.1"), "{remedy}");
        assert_eq!(apart("--center", "-0.7", "a.toml", ','), None);
    }
}
