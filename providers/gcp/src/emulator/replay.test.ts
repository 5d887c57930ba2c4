import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readRecording, recordingNames } from '../testing/recordings.js'
import { replay } from '../testing/replay.js'

const STATUSES_MIN = 0.95
const FIELDS_MIN = 0.9

const names = recordingNames()
if (!names)
  test('recorded sessions of Google Cloud', {
    skip: 'the recordings are not here: ../shared/recordings/gcp beside the checkout',
  })

for (const name of names ?? []) {
  test(`the emulator answers as recorded in ${name}`, (t) => {
    const { statuses, matchedStatuses, fields, matchedFields, equalFields, misses } = replay(readRecording(name))
    const percent = (part: number, whole: number) =>
      `${((100 * part) / Math.max(whole, 1)).toFixed(1)} % (${part} of ${whole})`
    t.diagnostic(
      `${name}: status codes ${percent(matchedStatuses, statuses)}, response fields ${percent(matchedFields, fields)}, with equal values ${percent(equalFields, fields)}`,
    )
    if (process.env['SHOW_MISSES']) for (const miss of new Set(misses)) t.diagnostic(miss)
    assert.ok(matchedStatuses >= statuses * STATUSES_MIN, `status codes differ:\n${misses.join('\n')}`)
    assert.ok(equalFields >= fields * FIELDS_MIN, `response fields differ:\n${misses.join('\n')}`)
  })
}
