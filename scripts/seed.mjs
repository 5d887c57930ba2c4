// Loaded before test files that use fast-check (node --import): random values are equal in every run with the same
// CROSSTIE_SEED.
import fc from 'fast-check'

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env.CROSSTIE_SEED) })
