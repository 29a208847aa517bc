//! From what a model sends to a checked program: TypeScript, module access, diagnostics
