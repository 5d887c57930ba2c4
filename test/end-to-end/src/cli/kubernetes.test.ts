import { after, before, describe } from 'node:test'
import type { Child } from '../support/children.js'
import { type RealKubernetes, startRealKubernetes } from '../support/oracle.js'
import { Program } from '../support/program.js'
import { commandSuite } from './suite.js'

const real: RealKubernetes | string = await startRealKubernetes()
const skip = typeof real === 'string' ? real : false

describe('the commands on a real kube-apiserver', { skip, timeout: 600_000 }, () => {
  let program: Program
  let controllers: Child
  before(async () => {
    program = await Program.on((real as RealKubernetes).kubeconfig)
    controllers = program.start('controllers', '--providers', 'nop', '--standalone')
    await controllers.says(/^starting: /m)
  })
  after(async () => {
    await controllers?.stop()
    await program?.[Symbol.asyncDispose]()
    await (real as RealKubernetes)[Symbol.asyncDispose]()
  })
  commandSuite(() => program)
})
