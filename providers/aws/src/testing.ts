// Entry point for tests of other packages that need an AWS emulator.
export { type CallCount, countCalls } from './testing/calls.js'
export { connected } from './testing/contract.js'
export { Moto, type MotoOptions, motoConfig, motoMissing } from './testing/moto.js'
