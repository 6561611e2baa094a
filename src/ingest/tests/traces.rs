//! Requests as observability tools keep them.
