//! Development only: hermetic environments, fakes, generators and oracles
