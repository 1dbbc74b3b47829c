//! The numbers of listed actions, as parts of an action space.

/// Returns the index of an item in a list.
pub(super) fn index_of<T: PartialEq>(items: impl IntoIterator<Item = T>, item: &T) -> Option<u16> {
    (0..).zip(items).find(|(_, known)| known == item).map(|(place, _)| place)
}
