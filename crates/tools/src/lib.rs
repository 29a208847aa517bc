//! Tools: the traits, policy, approvals, the one executor, and the core tools
