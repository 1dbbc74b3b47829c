//! The macro for the short forms of a game's common events, as items of its
//! [`GameKind`](crate::game::GameKind).

/// Defines the short forms from a table of events in an order that never changes: the name, the
/// variant, and the fields in their order. Fields behind the bar have a default value; they are
/// omitted from the end as far as they have it. A field behind the semicolon has this value in
/// every event with a short form.
macro_rules! short_events {
    ($event:ident: $(
        $name:literal => $variant:ident {
            $($field:ident),* $(| $($more:ident = $default:expr),+)? $(; $fixed:ident: $value:ident)?
        }
    ),+ $(,)?) => {
        const SHORT_EVENTS: &'static [&'static str] = &[$($name),+];

        fn short_event(event: &$event) -> Option<&'static str> {
            match event {
                $($event::$variant { $($fixed: $value,)? .. } => Some($name),)+
                _ => None,
            }
        }

        fn write_short<S: serde::ser::SerializeSeq>(
            event: &$event,
            fields: &mut S,
        ) -> Result<(), S::Error> {
            match event {
                $($event::$variant { $($field,)* $($($more,)+)? $($fixed: $value,)? .. } => {
                    $(fields.serialize_element($field)?;)*
                    $(short_events!(@write fields $($more = $default),+);)?
                    Ok(())
                })+
                _ => Ok(()),
            }
        }

        fn read_short<'de, A: serde::de::SeqAccess<'de>>(
            name: &str,
            fields: &mut A,
        ) -> Result<$event, A::Error> {
            fn next<'de, T: serde::Deserialize<'de>, A: serde::de::SeqAccess<'de>>(
                fields: &mut A,
            ) -> Result<T, A::Error> {
                let missing = || serde::de::Error::custom("a field is missing in a short event");
                fields.next_element()?.ok_or_else(missing)
            }
            Ok(match name {
                $($name => $event::$variant {
                    $($field: next(fields)?,)*
                    $($($more: fields.next_element()?.unwrap_or($default),)+)?
                    $($fixed: $value,)?
                },)+
                _ => return Err(serde::de::Error::custom("no event has this name")),
            })
        }
    };

    (@write $fields:ident $($more:ident = $default:expr),+) => {
        let differ = [$($crate::game::differ($more, &$default)),+];
        let mut left = differ.iter().rposition(|differs| *differs).map_or(0, |last| last + 1);
        $(if left > 0 {
            $fields.serialize_element($more)?;
            left -= 1;
        })+
        debug_assert_eq!(left, 0);
    };
}
