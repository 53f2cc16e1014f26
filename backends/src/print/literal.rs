//! Constants as text that reads back exactly.

use super::words::Words;
use crate::trace::ir::Type;

/// A constant of a type; whether it begins with a sign.
pub(super) fn literal(words: &Words, kind: Type, bits: u64) -> (String, bool) {
    let text = match kind {
        Type::Bool => {
            if bits == 0 {
                "false".into()
            } else {
                "true".into()
            }
        }
        Type::I32 if bits as i64 == i64::from(i32::MIN) => "(-2147483647 - 1)".into(),
        Type::I32 => (bits as i64).to_string(),
        Type::I64 if bits as i64 == i64::MIN => format!("(-9223372036854775807{0} - 1)", words.i64_suffix),
        Type::I64 => format!("{}{}", bits as i64, words.i64_suffix),
        Type::F64 => real(f64::from_bits(bits), words.special_f64, |value| format!("{value:?}")),
        Type::F32 => real(f64::from_bits(bits), words.special_f32, |value| format!("{:?}f", value as f32)),
    };
    let signed = text.starts_with('-');
    (text, signed)
}

fn real(value: f64, special: [&str; 2], finite: impl Fn(f64) -> String) -> String {
    if value.is_nan() {
        special[1].into()
    } else if value.is_infinite() {
        format!("{}{}", if value < 0.0 { "-" } else { "" }, special[0])
    } else {
        finite(value)
    }
}
