export { type ClientUnderTest, clientContract } from './client-contract.js'
