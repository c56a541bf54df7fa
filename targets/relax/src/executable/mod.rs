//! The serialised executable: parsed into a decoded form with every bound checked, saved, shown as text.
