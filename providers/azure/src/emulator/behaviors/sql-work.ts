import type { Answer, Polling } from '../behavior.js'

const inGroup = '/subscriptions/{subscription}/resourceGroups/{group}/providers/Microsoft.Sql/locations/{location}'

/** Work of Azure SQL: `noun` is part of the paths, `operation` the name of the work. */
export function sqlWork(noun: string, operation: string, retryAfter: number, base = inGroup): Answer {
  const polling: Polling = {
    status: `${base}/${noun}AzureAsyncOperation/{operation}`,
    result: `${base}/${noun}OperationResults/{operation}`,
    retryAfter,
    pollAfter: 15,
    operation,
    detailed: true,
  }
  return { status: 202, body: 'operation', polling }
}
