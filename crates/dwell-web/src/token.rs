//! The secret in the link of a server.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// Bytes of a token: 192 bits.
const BYTES: usize = 24;

/// A secret that every request must have: other programs and pages of other origins do not know it.
#[derive(Clone)]
pub(crate) struct Token(String);

impl Token {
    /// A random token.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub(crate) fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes)?;
        Ok(Self(URL_SAFE_NO_PAD.encode(bytes)))
    }

    /// The token that an earlier server wrote, if it has the form of one.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        (bytes.len() == BYTES).then(|| Self(text.to_owned()))
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// Whether a text is the token, in a time that does not depend on how much of it is right.
    pub(crate) fn is(&self, text: &str) -> bool {
        let (own, given) = (self.0.as_bytes(), text.as_bytes());
        let differing = own.iter().zip(given).fold(0, |differing, (a, b)| differing | (a ^ b));
        // Not removed by the optimiser, which could otherwise end the loop early.
        std::hint::black_box(differing) == 0 && own.len() == given.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_random_and_compared_whole() {
        let (one, other) = (Token::random().unwrap(), Token::random().unwrap());
        assert!(one.text() != other.text() && one.text().len() == 32);
        assert!(one.is(one.text()) && !one.is(other.text()) && !one.is("") && !one.is(&one.text()[..31]));
        assert!(!one.is(&format!("{}x", one.text())));
        assert!(Token::parse(one.text()).is_some() && Token::parse("short").is_none() && Token::parse("%").is_none());
    }
}
