//! Reads the output of `ptxas -v`.

use std::collections::BTreeMap;

/// The resources of a function on one architecture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    /// Registers of a thread, 32 bits each; 0 for functions that are not kernels.
    pub(super) registers: u32,
    /// Bytes that instructions move from registers into local memory, each instruction counted once.
    pub(super) spill_stores: u32,
    /// Bytes that instructions move back, counted likewise.
    pub(super) spill_loads: u32,
    /// Bytes of local memory of a thread; for a kernel with those of the functions it calls, where ptxas prints them.
    pub(super) stack: u32,
    /// Bytes of shared memory of a block that the code itself declares.
    pub(super) shared: u32,
}

/// Resources by function name.
pub(super) type Functions = BTreeMap<String, Usage>;

/// Reads the lines about kernels and about functions that are called rather than inlined. A function that is compiled
/// more than once, for several kernels, has the sum of its spills.
pub(super) fn parse(text: &str) -> Result<Functions, String> {
    let mut functions = Functions::new();
    let (mut function, mut kernel) = (None, None);
    for line in text.lines() {
        let bad = || format!("a line of ptxas cannot be read: `{line}`");
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            let name = rest.split('\'').next().ok_or_else(bad)?;
            functions.entry(name.to_owned()).or_default();
            kernel = Some(name.to_owned());
        } else if let Some((_, name)) = line.split_once("Function properties for ") {
            functions.entry(name.trim().to_owned()).or_default();
            function = Some(name.trim().to_owned());
        } else if line.contains("bytes stack frame") {
            let usage = function.as_ref().and_then(|name| functions.get_mut(name)).ok_or_else(bad)?;
            usage.stack = usage.stack.max(before(line, " bytes stack frame").ok_or_else(bad)?);
            usage.spill_stores += before(line, " bytes spill stores").ok_or_else(bad)?;
            usage.spill_loads += before(line, " bytes spill loads").ok_or_else(bad)?;
        } else if line.contains(": Used ") {
            let usage = kernel.as_ref().and_then(|name| functions.get_mut(name)).ok_or_else(bad)?;
            usage.registers = before(line, " registers").ok_or_else(bad)?;
            usage.shared = before(line, " bytes smem").unwrap_or(0);
            usage.stack = usage.stack.max(before(line, " bytes cumulative stack size").unwrap_or(0));
        }
    }
    if kernel.is_none() {
        return Err(format!("ptxas names no kernel (`extern \"C\" __global__`):\n{text}"));
    }
    Ok(functions)
}

/// The number before these words.
fn before(line: &str, words: &str) -> Option<u32> {
    let (front, _) = line.split_once(words)?;
    front.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
ptxas info    : 8 bytes gmem, 800 bytes cmem[3]
ptxas info    : Compiling entry function 'calls' for 'sm_90'
ptxas info    : Function properties for calls
    320 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 88 registers, used 1 barriers, 416 bytes cumulative stack size
ptxas info    : Compile time = 24.800 ms
ptxas info    : Function properties for _Z5heavyPdj
    0 bytes stack frame, 100 bytes spill stores, 104 bytes spill loads
ptxas info    : Compiling entry function 'plain' for 'sm_90'
ptxas info    : Function properties for plain
    0 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 17 registers, used 1 barriers, 256 bytes smem, 384 bytes cmem[0]
ptxas info    : Compile time = 2.516 ms
ptxas info    : Function properties for _Z5heavyPdj
    8 bytes stack frame, 1 bytes spill stores, 2 bytes spill loads
";

    #[test]
    fn kernels_and_the_functions_they_call() {
        let functions = parse(TEXT).unwrap();
        let usage = |registers, spill_stores, spill_loads, stack, shared| Usage {
            registers,
            spill_stores,
            spill_loads,
            stack,
            shared,
        };
        let expected = [
            ("_Z5heavyPdj", usage(0, 101, 106, 8, 0)),
            ("calls", usage(88, 0, 0, 416, 0)),
            ("plain", usage(17, 12, 16, 0, 256)),
        ];
        assert_eq!(functions, expected.map(|(name, usage)| (name.to_owned(), usage)).into());
    }

    #[test]
    fn unreadable_output_is_an_error() {
        assert!(parse("").unwrap_err().contains("no kernel"));
        let cut = TEXT.lines().next_back().unwrap();
        assert!(parse(cut).unwrap_err().contains(cut), "properties of nothing");
        let changed = TEXT.replace("88 registers", "many registers");
        assert!(parse(&changed).unwrap_err().contains("many registers"));
    }
}
