// The API for tests of providers.
export {
  type Cloud,
  type CloudCall,
  type CloudCapabilities,
  type CloudOptions,
  type CloudResource,
  SimulatedCloud,
  throttled,
} from './testing/cloud.js'
export { kindContract, type System } from './testing/contract.js'
export { FakeApi, type FakeApiOptions, type FakeRequest } from './testing/fakeapi.js'
export { thingOf } from './testing/thing.js'
