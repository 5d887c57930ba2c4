import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { closest } from '../../options/suggest.js'
import { Progress } from './progress.js'
import { painted, table } from './table.js'
import { hasColors, paintFor, plain, safeForTerminal, shortened, withoutColors } from './terminal.js'

test('colors are for terminals, unless they are turned off', () => {
  const cases: readonly [string, boolean, Record<string, string>, boolean][] = [
    ['a terminal', true, {}, true],
    ['a file', false, {}, false],
    ['NO_COLOR', true, { NO_COLOR: '1' }, false],
    ['an empty NO_COLOR counts as none', true, { NO_COLOR: '' }, true],
    ['a terminal that cannot', true, { TERM: 'dumb' }, false],
    ['FORCE_COLOR', false, { FORCE_COLOR: '1' }, true],
    ['NO_COLOR beats FORCE_COLOR', true, { FORCE_COLOR: '1', NO_COLOR: '1' }, false],
  ]
  for (const [because, isTTY, env, want] of cases) assert.equal(hasColors({ isTTY }, env), want, because)
})

test('columns stay in line when some cells are colored', () => {
  const rows = [
    ['NAME', 'READY', 'AGE'],
    ['a', 'True', '1s'],
    ['long-name', 'False', '2s'],
  ]
  const colored = table(painted(paintFor(true), rows))
  assert.ok(colored.some((line) => line.includes('\x1b[')))
  assert.deepEqual(colored.map(withoutColors), table(painted(plain, rows)))
  assert.deepEqual(table(painted(plain, rows)), [
    'NAME       READY  AGE',
    'a          True   1s',
    'long-name  False  2s',
  ])
})

test('long text is cut by columns, not by halves of letters', () => {
  assert.equal(shortened('abcdef', 4), 'abc…')
  assert.equal(shortened('abc', 4), 'abc')
  assert.equal(shortened('😀😀😀', 2), '😀…')
})

test('what was probably meant', () => {
  const words = ['get', 'delete', 'describe', 'namespace', 'postgresqlinstance']
  assert.equal(closest('gte', words), 'get')
  assert.equal(closest('desribe', words), 'describe')
  assert.equal(closest('postgressqlinstnace', words), 'postgresqlinstance')
  assert.equal(closest('something', words), undefined)
})

test('progress is written nowhere but to terminals, and cleans up', async () => {
  const written: string[] = []
  const sink = { isTTY: false, write: (text: string) => written.push(text) }
  const progress = new Progress(sink)
  assert.equal(await progress.during('waiting', async () => 7), 7)
  progress.say('still')
  progress.stop()
  assert.deepEqual(written, [])
})

const ERASE = '\r\x1b[K'

test('on a terminal, what takes longer than a second is explained, and makes room for other lines', () => {
  mock.timers.enable({ apis: ['setInterval', 'Date'] })
  try {
    const written: string[] = []
    const progress = new Progress({ isTTY: true, columns: 30, write: (text: string) => written.push(text) })
    progress.say('waiting for something that has a long name')
    mock.timers.tick(900)
    assert.deepEqual(written, [], 'waits below a second are not shown')
    mock.timers.tick(200)
    const line = (written.at(-1) ?? '').replace(ERASE, '')
    assert.match(line, /^. waiting for something .*… 1s$/)
    assert.ok(line.length < 30, 'a line that wraps could not be taken back')
    progress.hide()
    assert.equal(written.at(-1), ERASE)
    progress.rest('● 3 ready')
    mock.timers.tick(300)
    assert.equal(written.at(-1), `${ERASE}● 3 ready`)
    const count = written.length
    mock.timers.tick(5_000)
    assert.equal(written.length, count, 'what does not change is not drawn again')
    progress.stop()
    assert.equal(written.at(-1), ERASE)
  } finally {
    mock.timers.reset()
  }
})

test('text of others cannot control the terminal, and cannot pass as our colors', () => {
  const cases: readonly [string, string][] = [
    ['\x1b[2J\x1b]0;title\x07', '\\x1b[2J\\x1b]0;title\\x07'],
    ['\x1b[31mred', '\\x1b[31mred'],
    ['a\rb\bc\x7f', 'a\\x0db\\x08c\\x7f'],
    ['\x9b31m', '\\x9b31m'],
    ['admin\u202etxt\u2066\u200b', 'admin\\u202etxt\\u2066\\u200b'],
    ['héllo 😀\tx\ny', 'héllo 😀\tx\ny'],
  ]
  for (const [given, want] of cases) assert.equal(safeForTerminal(given), want)
  assert.equal(safeForTerminal(paintFor(true).red('a\x1b[1mb')), '\x1b[31ma\\x1b[1mb\x1b[39m')
  assert.deepEqual(
    table([
      ['A', 'B'],
      ['x\nREADY  True', 'y'],
    ]).slice(1),
    ['x\\nREADY  True  y'],
  )
})
