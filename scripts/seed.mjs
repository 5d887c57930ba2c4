// Loaded before test files that use fast-check (node --import): chance is the same in every run with the same CROSSTIE_SEED.
import fc from 'fast-check'

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env.CROSSTIE_SEED) })
