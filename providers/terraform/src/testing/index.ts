export {
  binaryOf,
  mirror,
  type ProviderName,
  providerMissing,
  providerNames,
  skipWithout,
  versionOf,
} from './binaries.js'
export { terraformMissing } from './terraform.js'
