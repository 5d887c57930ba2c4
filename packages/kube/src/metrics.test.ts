import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Metrics } from './metrics.js'

test('counters, gauges and histograms are exposed in the text format', () => {
  const metrics = new Metrics()
  metrics.counter('requests_total', 'All requests.', ['verb', 'code']).with('get', '200').inc()
  metrics.gauge('depth', 'How deep.').with().set(3)
  const seconds = metrics.histogram('seconds', 'How long.', ['verb'], [0.1, 1])
  for (const value of [0.05, 0.5, 5]) seconds.with('get').observe(value)
  assert.equal(
    metrics.expose(),
    [
      '# HELP requests_total All requests.',
      '# TYPE requests_total counter',
      'requests_total{verb="get",code="200"} 1',
      '# HELP depth How deep.',
      '# TYPE depth gauge',
      'depth 3',
      '# HELP seconds How long.',
      '# TYPE seconds histogram',
      'seconds_bucket{verb="get",le="0.1"} 1',
      'seconds_bucket{verb="get",le="1"} 2',
      'seconds_bucket{verb="get",le="+Inf"} 3',
      'seconds_sum{verb="get"} 5.55',
      'seconds_count{verb="get"} 3',
      '',
    ].join('\n'),
  )
})

test('label values are escaped, and equal labels are one series', () => {
  const metrics = new Metrics()
  const family = metrics.counter('odd', 'Odd.', ['name'])
  family.with('a"b\\c\n').inc()
  family.with('a"b\\c\n').inc()
  assert.match(metrics.expose(), /odd\{name="a\\"b\\\\c\\n"\} 2/)
})

test('collectors run on each exposition', () => {
  const metrics = new Metrics()
  const gauge = metrics.gauge('now', 'Now.')
  metrics.onCollect(() => gauge.with().set(42))
  assert.match(metrics.expose(), /now 42/)
})
