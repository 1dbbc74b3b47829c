//! Values of the service in the bodies of `bahay_api`.

use crate::accounts;
use crate::http::TransferCode;
use crate::ledger;

const _: () = assert!(bahay_api::NAME_TEXT_LENGTH_MAX == accounts::NAME_TEXT_LENGTH_MAX);

impl From<ledger::Code> for TransferCode {
    fn from(code: ledger::Code) -> Self {
        Self(code.as_str())
    }
}

#[cfg(test)]
mod tests {
    use crate::ledger::Code;

    #[test]
    fn the_document_lists_the_codes_of_the_ledger() {
        let codes: Vec<_> = Code::ALL.iter().copied().map(Code::as_str).collect();
        assert_eq!(codes, bahay_api::TRANSFER_CODES);
    }
}
