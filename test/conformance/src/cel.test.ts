import type { Case } from './harness/case.js'
import { CRDS, define, definition } from './harness/crd.js'
import type { Loose } from './harness/http.js'
import { conformance } from './harness/suite.js'

const rule = (text: string, more: object = {}) => ({ rule: text, ...more })
const outcome = (body: Loose): Loose =>
  body.kind === 'Status' ? { message: body.message, causes: body.details?.causes } : 'accepted'

/** A rule on `spec` with its properties, and specs to try as dry-run creates. */
interface Table {
  readonly properties: Record<string, Loose>
  readonly rules: readonly object[]
  readonly specs: readonly Loose[]
}

const str = { type: 'string', maxLength: 100 }
const int = { type: 'integer' }
const strings = { type: 'array', maxItems: 20, items: str }
const one = (type: Loose, text: string, ...values: Loose[]): Table => ({
  properties: { x: type },
  rules: [rule(text)],
  specs: values.map((x) => ({ x })),
})

const tables: Record<string, Table> = {
  'a plain rule': {
    properties: { a: int, b: int },
    rules: [rule('self.a <= self.b')],
    specs: [
      { a: 1, b: 2 },
      { a: 2, b: 1 },
    ],
  },
  'a message': {
    properties: { a: int },
    rules: [rule('self.a > 0', { message: 'a must be positive' })],
    specs: [{ a: 0 }],
  },
  'a messageExpression': {
    properties: { a: int },
    rules: [rule('self.a > 0', { message: 'plain', messageExpression: '"a is " + string(self.a)' })],
    specs: [{ a: 0 }],
  },
  'a messageExpression that is cheap': {
    properties: { a: { type: 'integer', maximum: 9, minimum: 0 } },
    rules: [rule('self.a > 0', { messageExpression: '"a must be " + (self.a == 0 ? "more" : "less")' })],
    specs: [{ a: 0 }],
  },
  'a messageExpression that fails falls back': {
    properties: { a: int, l: strings },
    rules: [rule('self.a > 0', { message: 'plain', messageExpression: 'self.l[5]' })],
    specs: [{ a: 0, l: ['x'] }],
  },
  'a messageExpression that is empty falls back': {
    properties: { a: int },
    rules: [
      rule('self.a > 0', { messageExpression: '"  "' }),
      rule('self.a > 1', { message: 'plain', messageExpression: '"two\\nlines"' }),
    ],
    specs: [{ a: 0 }],
  },
  reasons: {
    properties: { a: int },
    rules: ['FieldValueInvalid', 'FieldValueForbidden', 'FieldValueRequired', 'FieldValueDuplicate'].map((reason) =>
      rule('self.a > 0', { reason, message: reason }),
    ),
    specs: [{ a: 0 }],
  },
  'a fieldPath': {
    properties: { a: int, o: { type: 'object', properties: { b: int } } },
    rules: [rule('self.a > 0', { fieldPath: '.a' }), rule('self.o.b > 0', { fieldPath: '.o.b', message: 'deep' })],
    specs: [{ a: 0, o: { b: 0 } }],
  },
  'has and optional fields': {
    properties: { a: int, b: int },
    rules: [rule('!has(self.a) || self.a > 0'), rule('has(self.a) == has(self.b)')],
    specs: [{}, { a: 1 }, { a: 1, b: 1 }, { a: 0, b: 1 }],
  },
  'a field that is absent is an error of evaluation': {
    properties: { a: int },
    rules: [rule('self.a > 0')],
    specs: [{}],
  },
  'several rules, all told': {
    properties: { a: int },
    rules: [rule('self.a > 0', { message: 'one' }), rule('self.a > 1', { message: 'two' })],
    specs: [{ a: 0 }, { a: 1 }, { a: 2 }],
  },
  'lists: all, exists, exists_one, filter, map, size': {
    properties: { l: strings },
    rules: [
      rule('self.l.all(s, s.size() < 4)'),
      rule('self.l.exists(s, s.startsWith("a"))'),
      rule('self.l.exists_one(s, s == "a")'),
      rule('self.l.filter(s, s != "a").size() < 3'),
      rule('self.l.map(s, s + "!")[0].endsWith("!")'),
    ],
    specs: [{ l: ['a', 'b'] }, { l: ['long!', 'a', 'a'] }, { l: ['a', 'x', 'y', 'z'] }],
  },
  'list library': {
    properties: { l: { type: 'array', maxItems: 10, items: int } },
    rules: [
      rule('self.l.isSorted()'),
      rule('self.l.sum() < 10'),
      rule('self.l.min() > 0'),
      rule('self.l.max() < 9'),
      rule('self.l.indexOf(2) != 0'),
      rule('self.l.lastIndexOf(3) < 5'),
    ],
    specs: [{ l: [1, 2, 3] }, { l: [3, 1] }, { l: [2, 9] }, { l: [0, 1] }],
  },
  'list library on values whose type is not known before': {
    properties: { n: int },
    rules: [
      rule('dyn([1.5, 2.5]).sum() == 4.0'),
      rule('dyn([1u, 2u]).sum() == 3u'),
      rule('dyn([duration("1s"), duration("2s")]).sum() == duration("3s")'),
      rule('dyn([]).sum() == 0'),
      rule('dyn(["b", "a"]).min() == "a"'),
      rule('dyn(["a"]).sum() == 1'),
      rule('dyn([dyn(1), dyn(1.5)]).sum() == 2'),
      rule('dyn([1]).join() == "1"'),
      rule('dyn([dyn("a"), dyn(1)]).join() == "a1"'),
      rule('dyn([{}]).isSorted()'),
      rule('dyn([[1]]).max() == [1]'),
    ],
    specs: [{ n: 1 }],
  },
  maps: {
    properties: { m: { type: 'object', maxProperties: 10, additionalProperties: int } },
    rules: [rule('self.m.all(k, self.m[k] > 0)'), rule('"a" in self.m')],
    specs: [{ m: { a: 1 } }, { m: { b: 1 } }, { m: { a: 0 } }],
  },
  'map lists are compared by key': {
    properties: {
      l: {
        type: 'array',
        maxItems: 5,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
        items: { type: 'object', required: ['k'], properties: { k: str, v: int } },
      },
    },
    rules: [rule('self.l == [{"k": "a", "v": 1}, {"k": "b", "v": 2}] || self.l.size() < 2')],
    specs: [
      {
        l: [
          { k: 'b', v: 2 },
          { k: 'a', v: 1 },
        ],
      },
      {
        l: [
          { k: 'a', v: 1 },
          { k: 'b', v: 3 },
        ],
      },
    ],
  },
  'sets are compared without order': {
    properties: { l: { ...strings, 'x-kubernetes-list-type': 'set' } },
    rules: [rule('self.l == ["a", "b"]')],
    specs: [{ l: ['b', 'a'] }, { l: ['a'] }],
  },
  'int-or-string is dyn': {
    properties: { x: { 'x-kubernetes-int-or-string': true } },
    rules: [rule('type(self.x) == string ? self.x.endsWith("%") : self.x > 0')],
    specs: [{ x: 1 }, { x: '5%' }, { x: 0 }, { x: '5' }],
  },
  'map lists are equal in any order': {
    properties: {
      l: {
        type: 'array',
        maxItems: 5,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
        items: { type: 'object', required: ['k'], properties: { k: str, v: int } },
      },
      m: {
        type: 'array',
        maxItems: 5,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
        items: { type: 'object', required: ['k'], properties: { k: str, v: int } },
      },
    },
    rules: [rule('self.l == self.m')],
    specs: [
      {
        l: [
          { k: 'b', v: 2 },
          { k: 'a', v: 1 },
        ],
        m: [
          { k: 'a', v: 1 },
          { k: 'b', v: 2 },
        ],
      },
      { l: [{ k: 'a', v: 1 }], m: [{ k: 'a', v: 2 }] },
    ],
  },
  'nullable values': {
    properties: { x: { type: 'string', nullable: true, maxLength: 10 } },
    rules: [rule('self.x == null || self.x == "a"')],
    specs: [{ x: null }, { x: 'a' }, { x: 'b' }],
  },
  'escaped names': {
    properties: { 'with-dash': int, namespace: int, 'dot.ted': int, __x__: int, int, in: int },
    rules: [
      rule(
        'self.with__dash__dash > 0 && self.__namespace__ > 0 && self.dot__dot__ted > 0 && self.__underscores__x__underscores__ > 0 && self.int > 0 && self.__in__ > 0',
      ),
    ],
    specs: [{ 'with-dash': 1, namespace: 1, 'dot.ted': 1, __x__: 1, int: 1, in: 1 }],
  },
  'date-time': one(
    { type: 'string', format: 'date-time' },
    'self.x > timestamp("2020-01-01T00:00:00Z") && self.x.getFullYear() < 2030',
    '2021-06-01T00:00:00Z',
    '2019-01-01T00:00:00Z',
    '2031-01-01T00:00:00Z',
  ),
  duration: one(
    { type: 'string', format: 'duration' },
    'self.x > duration("1m") && self.x.getHours() < 2',
    '90s',
    '30s',
    '3h',
  ),
  'byte is bytes': one({ type: 'string', format: 'byte', maxLength: 100 }, 'self.x == b"hello"', 'aGVsbG8=', 'eA=='),
  strings: one(
    str,
    'self.x.lowerAscii() == self.x && self.x.trim() == self.x && self.x.split(",").size() < 3 && self.x.replace("a", "b").contains("b") && self.x.substring(0, 1) == "a" && self.x.charAt(0) == "a" && self.x.indexOf("a") == 0',
    'abc',
    'Abc',
    'a,b,c',
    ' a',
  ),
  'string format': one(str, '"%s is %d".format([self.x, 5]) == "a is 5"', 'a', 'b'),
  regex: one(
    str,
    'self.x.matches("^[a-z]+$") && self.x.find("[a-c]") != "" && self.x.findAll("[a-c]").size() > 1',
    'abc',
    'ABC',
    'xyz',
    'ax',
  ),
  url: one(
    str,
    'isURL(self.x) && url(self.x).getScheme() == "https" && url(self.x).getHostname() == "example.com" && url(self.x).getPort() == "8443" && url(self.x).getEscapedPath() == "/a%20b" && url(self.x).getQuery()["k"] == ["v"]',
    'https://example.com:8443/a%20b?k=v',
    'http://example.com:8443/a%20b?k=v',
    'not a url',
  ),
  quantity: one(
    str,
    'isQuantity(self.x) && quantity(self.x).isGreaterThan(quantity("1Gi")) && quantity(self.x).compareTo(quantity("2Gi")) <= 0 && quantity(self.x).sign() == 1 && quantity(self.x).add(quantity("1")).asApproximateFloat() > 1.0',
    '1500Mi',
    '2Gi',
    '3Gi',
    '1',
    'x',
  ),
  ip: one(
    str,
    'isIP(self.x) && ip(self.x).family() == 4 && !ip(self.x).isLoopback() && ip.isCanonical(self.x)',
    '10.0.0.1',
    '127.0.0.1',
    '::1',
    'x',
  ),
  cidr: one(
    str,
    'isCIDR(self.x) && cidr(self.x).containsIP("10.1.2.3") && cidr(self.x).prefixLength() == 8 && cidr(self.x).masked() == cidr(self.x)',
    '10.0.0.0/8',
    '10.1.0.0/16',
    '10.0.0.1/8',
    'x',
  ),
  format: one(str, '!format.dns1123Label().validate(self.x).hasValue()', 'abc', 'A B', ''),
  semver: one(
    str,
    'isSemver(self.x) && semver(self.x).isGreaterThan(semver("1.2.0")) && semver(self.x).major() == 1',
    '1.3.0',
    '1.1.9',
    '2.0.0',
    'x',
    'v1.3.0',
  ),
  optionals: {
    properties: { a: int, o: { type: 'object', properties: { b: int } } },
    rules: [
      rule('self.?a.orValue(1) > 0'),
      rule('self.?o.?b.hasValue() ? self.o.b > 0 : true'),
      rule('optional.of(1).value() == 1 && optional.none().orValue(2) == 2'),
    ],
    specs: [{}, { a: 0 }, { o: {} }, { o: { b: 0 } }],
  },
  'two-variable macros': {
    properties: { l: strings, m: { type: 'object', maxProperties: 5, additionalProperties: int } },
    rules: [
      rule('self.l.all(i, v, i < 3 || v == "x")'),
      rule('self.m.exists(k, v, k == "a" && v == 1)'),
      rule('self.l.transformList(i, v, i).size() == self.l.size()'),
    ],
    specs: [
      { l: ['a'], m: { a: 1 } },
      { l: ['a', 'b', 'c', 'd'], m: { a: 1 } },
      { l: [], m: { a: 2 } },
    ],
  },
  'sets library': one(
    strings,
    'sets.contains(["a", "b", "c"], self.x) && sets.intersects(self.x, ["a"]) && !sets.equivalent(self.x, ["c"])',
    ['a'],
    ['a', 'b'],
    ['z'],
    ['b'],
  ),
  arithmetic: {
    properties: { a: int, b: int, f: { type: 'number' } },
    rules: [rule('self.a / self.b == 2'), rule('self.a % 3 == 1'), rule('double(self.a) * self.f > 1.0')],
    specs: [
      { a: 4, b: 2, f: 0.5 },
      { a: 4, b: 0, f: 0.5 },
      { a: 9223372036854775000, b: 1, f: 0.1 },
    ],
  },
  'conversions and types': {
    properties: { a: int, s: str, f: { type: 'number' } },
    rules: [rule('string(self.a) == self.s'), rule('int(self.s) == self.a'), rule('type(self.f) == double')],
    specs: [
      { a: 5, s: '5', f: 1 },
      { a: 5, s: 'x', f: 1.5 },
    ],
  },
  'bool and ternary': one({ type: 'boolean' }, 'self.x ? true : false', true, false),
  enums: one({ type: 'string', enum: ['a', 'b'] }, 'self.x in ["a"]', 'a', 'b', 'c'),
  'unknown fields are not seen': {
    properties: { p: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { k: int } } },
    rules: [rule('self.p.k > 0')],
    specs: [{ p: { k: 1, z: 2 } }, { p: { k: 0 } }],
  },
  'a rule is not asked when the shape is wrong': {
    properties: { a: int },
    rules: [rule('self.a > 0')],
    specs: [{ a: 'x' }],
  },
}

const cases: Record<string, (t: Case) => Promise<void>> = {}
for (const [name, { properties, rules, specs }] of Object.entries(tables)) {
  cases[name] = async (t) => {
    const options = {
      scope: 'Cluster',
      properties: { spec: { type: 'object', properties, 'x-kubernetes-validations': rules } },
    } as const
    const dry = await t.quiet('POST', CRDS, { query: { dryRun: 'All' }, body: definition(t, options).crd })
    t.see('the CRD', outcome(dry.body))
    if (dry.status !== 201) return
    const widgets = await define(t, options)
    for (const spec of specs) {
      const { body } = await t.quiet('POST', widgets.path(), {
        query: { dryRun: 'All' },
        body: widgets.object('a', { spec }),
      })
      t.see(JSON.stringify(spec), outcome(body))
    }
  }
}

/** Rules on `spec` with which the CRD is rejected or accepted. */
const written: Record<string, { properties?: Record<string, Loose>; spec?: object; rules: readonly object[] }> = {
  'does not parse': { rules: [rule('self.a >')] },
  'is empty': { rules: [rule('')] },
  'unknown field': { rules: [rule('self.none > 0')] },
  'unknown function': { rules: [rule('self.a.nonsense()')] },
  'not a boolean': { rules: [rule('self.a')] },
  'types do not match': { rules: [rule('self.a == "x"')] },
  'unknown variable': { rules: [rule('other > 0')] },
  'message with a newline': { rules: [rule('true', { message: 'a\nb' })] },
  'message empty': { rules: [rule('true', { message: '  ' })] },
  'rule with a newline needs a message': { rules: [rule('true &&\ntrue')] },
  'rule with a newline and a message': { rules: [rule('true &&\ntrue', { message: 'm' })] },
  'messageExpression does not compile': { rules: [rule('true', { messageExpression: 'self.none' })] },
  'messageExpression is no string': { rules: [rule('true', { messageExpression: '5' })] },
  'reason unknown': { rules: [rule('true', { reason: 'Nonsense' })] },
  'fieldPath unknown': { rules: [rule('true', { fieldPath: '.none' })] },
  'fieldPath malformed': { rules: [rule('true', { fieldPath: 'a' })] },
  'fieldPath into a list': { properties: { l: strings }, rules: [rule('true', { fieldPath: '.l[0]' })] },
  'optionalOldSelf without oldSelf': { rules: [rule('true', { optionalOldSelf: true })] },
  oldSelf: { rules: [rule('self.a >= oldSelf.a')] },
  'oldSelf under a list': {
    properties: {
      l: {
        type: 'array',
        maxItems: 5,
        items: { type: 'object', properties: { n: int }, 'x-kubernetes-validations': [rule('self.n >= oldSelf.n')] },
      },
    },
    rules: [],
  },
  'oldSelf under a map list': {
    properties: {
      l: {
        type: 'array',
        maxItems: 5,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
        items: {
          type: 'object',
          required: ['k'],
          properties: { k: str, n: int },
          'x-kubernetes-validations': [rule('self.n >= oldSelf.n')],
        },
      },
    },
    rules: [],
  },
  'oldSelf under a set': {
    properties: {
      l: {
        ...strings,
        items: { ...str, 'x-kubernetes-validations': [rule('self == oldSelf')] },
        'x-kubernetes-list-type': 'set',
      },
    },
    rules: [],
  },
  'too dear on an unbounded list': {
    properties: { l: { type: 'array', items: { type: 'string' } } },
    rules: [rule('self.l.all(x, self.l.all(y, x == y || self.l.all(z, z != x)))')],
  },
  'dear, but bounded': {
    properties: { l: { type: 'array', maxItems: 10, items: { type: 'string', maxLength: 10 } } },
    rules: [rule('self.l.all(x, self.l.all(y, x == y))')],
  },
  'too dear under an unbounded list': {
    properties: {
      l: {
        type: 'array',
        items: {
          type: 'object',
          properties: { s: { type: 'string' } },
          'x-kubernetes-validations': [rule('self.s.matches("a+b+c+") && self.s.contains("x")')],
        },
      },
    },
    rules: [],
  },
  'unbounded strings': { properties: { s: { type: 'string' } }, rules: [rule('self.s.matches("a")')] },
  'all of metadata': { rules: [rule('self.metadata.name == "x"')] },
  'on an int-or-string': {
    properties: {
      x: { 'x-kubernetes-int-or-string': true, 'x-kubernetes-validations': [rule('self == 5 || self == "5"')] },
    },
    rules: [],
  },
  'on a preserved object': {
    properties: {
      x: {
        type: 'object',
        'x-kubernetes-preserve-unknown-fields': true,
        'x-kubernetes-validations': [rule('self.z > 1')],
      },
    },
    rules: [],
  },
  'a property whose name is no identifier': { properties: { $ref2: int }, rules: [rule('self.$ref2 > 0')] },
}
for (const [name, { properties = { a: int }, rules }] of Object.entries(written)) {
  cases[`written: ${name}`] = async (t) => {
    const { crd } = definition(t, {
      properties: {
        spec: { type: 'object', properties, ...(rules.length > 0 ? { 'x-kubernetes-validations': rules } : {}) },
      },
    })
    await t.post(CRDS, crd, { query: { dryRun: 'All' }, pick: outcome })
  }
}

conformance('cel', {
  ...cases,
  'metadata at the root: name and generateName only': async (t) => {
    const schema = (text: string) => ({ type: 'object', 'x-kubernetes-validations': [rule(text)] })
    for (const text of [
      'self.metadata.name.startsWith("a")',
      'self.metadata.generateName == ""',
      'self.metadata.labels.size() > 0',
      'self.kind == "Widget" && self.apiVersion != ""',
    ]) {
      await t.post(CRDS, definition(t, { schema: schema(text) }).crd, { query: { dryRun: 'All' }, pick: outcome })
    }
    const widgets = await define(t, { schema: schema('self.metadata.name.startsWith("a")') })
    const all = widgets.path(await t.namespace())
    await t.post(all, widgets.object('b'), { pick: outcome })
    await t.post(all, widgets.object('a'), { pick: outcome })
  },
  'rules at every level have their path': async (t) => {
    const bad = { 'x-kubernetes-validations': [rule('false', { message: 'here' })] }
    const leaf = { type: 'integer', ...bad }
    const widgets = await define(t, {
      properties: {
        spec: {
          type: 'object',
          ...bad,
          properties: {
            o: { type: 'object', ...bad, properties: { n: leaf } },
            l: { type: 'array', maxItems: 3, ...bad, items: leaf },
            m: { type: 'object', maxProperties: 3, ...bad, additionalProperties: leaf },
          },
        },
      },
    })
    await t.post(
      widgets.path(await t.namespace()),
      widgets.object('a', { spec: { o: { n: 1 }, l: [1, 2], m: { 'k.1': 1 } } }),
      { pick: outcome },
    )
  },
  'transition rules run on update only': async (t) => {
    const widgets = await define(t, {
      properties: {
        spec: {
          type: 'object',
          properties: {
            n: {
              type: 'integer',
              'x-kubernetes-validations': [rule('self >= oldSelf', { message: 'must not shrink' })],
            },
          },
          'x-kubernetes-validations': [rule('has(self.n) || !has(oldSelf.n)', { message: 'must not go' })],
        },
      },
    })
    const all = widgets.path(await t.namespace())
    await t.post(all, widgets.object('a', { spec: { n: 5 } }), { pick: outcome })
    await t.mergePatch(`${all}/a`, { spec: { n: 4 } }, { pick: outcome })
    await t.mergePatch(`${all}/a`, { spec: { n: 6 } }, { pick: outcome })
    await t.mergePatch(`${all}/a`, { spec: { n: null } }, { pick: outcome })
  },
  'optionalOldSelf runs on create too': async (t) => {
    const widgets = await define(t, {
      properties: {
        spec: {
          type: 'object',
          properties: {
            n: {
              type: 'integer',
              'x-kubernetes-validations': [
                rule('oldSelf.hasValue() ? self >= oldSelf.value() : self == 1', {
                  optionalOldSelf: true,
                  message: 'starts at one and grows',
                }),
              ],
            },
          },
        },
      },
    })
    const all = widgets.path(await t.namespace())
    await t.post(all, widgets.object('a', { spec: { n: 2 } }), { pick: outcome })
    await t.post(all, widgets.object('a', { spec: { n: 1 } }), { pick: outcome })
    await t.mergePatch(`${all}/a`, { spec: { n: 0 } }, { pick: outcome })
    await t.mergePatch(`${all}/a`, { spec: { n: 9 } }, { pick: outcome })
  },
  'immutable fields': async (t) => {
    const widgets = await define(t, {
      properties: {
        spec: {
          type: 'object',
          properties: {
            name: {
              type: 'string',
              maxLength: 20,
              'x-kubernetes-validations': [rule('self == oldSelf', { message: 'is immutable' })],
            },
          },
        },
      },
    })
    const all = widgets.path(await t.namespace())
    await t.must('POST', all, { body: widgets.object('a', { spec: { name: 'x' } }) })
    await t.mergePatch(`${all}/a`, { spec: { name: 'y' } })
    await t.mergePatch(`${all}/a`, { metadata: { labels: { l: '1' } } }, { pick: outcome })
  },
  'transition rules correlate map lists by key': async (t) => {
    const widgets = await define(t, {
      properties: {
        spec: {
          type: 'object',
          properties: {
            l: {
              type: 'array',
              maxItems: 5,
              'x-kubernetes-list-type': 'map',
              'x-kubernetes-list-map-keys': ['k'],
              items: {
                type: 'object',
                required: ['k'],
                properties: { k: str, n: int },
                'x-kubernetes-validations': [rule('self.n >= oldSelf.n', { message: 'grows' })],
              },
            },
          },
        },
      },
    })
    const all = widgets.path(await t.namespace())
    await t.must('POST', all, {
      body: widgets.object('a', {
        spec: {
          l: [
            { k: 'x', n: 5 },
            { k: 'y', n: 1 },
          ],
        },
      }),
    })
    await t.mergePatch(
      `${all}/a`,
      {
        spec: {
          l: [
            { k: 'y', n: 2 },
            { k: 'x', n: 4 },
            { k: 'z', n: 0 },
          ],
        },
      },
      { pick: outcome },
    )
    await t.mergePatch(
      `${all}/a`,
      {
        spec: {
          l: [
            { k: 'y', n: 2 },
            { k: 'x', n: 5 },
            { k: 'z', n: 0 },
          ],
        },
      },
      { pick: outcome },
    )
  },
  'rules on status': async (t) => {
    const widgets = await define(t, {
      properties: {
        spec: { type: 'object', properties: { n: int } },
        status: { type: 'object', properties: { p: int }, 'x-kubernetes-validations': [rule('self.p > 0')] },
      },
      version: { subresources: { status: {} } },
    })
    const all = widgets.path(await t.namespace())
    await t.must('POST', all, { body: widgets.object('a', { spec: { n: 1 } }) })
    await t.mergePatch(`${all}/a/status`, { status: { p: 0 } }, { pick: outcome })
    await t.mergePatch(`${all}/a/status`, { status: { p: 1 } }, { pick: outcome })
  },
  'evaluation stops at its cost limit': async (t) => {
    const widgets = await define(t, {
      scope: 'Cluster',
      properties: {
        spec: {
          type: 'object',
          properties: { l: { type: 'array', maxItems: 700, items: { type: 'string', maxLength: 20 } } },
          'x-kubernetes-validations': [rule('self.l.all(x, self.l.all(y, x != "z" && y != "z"))')],
        },
      },
    }).catch((error) => error)
    t.see('registered', widgets instanceof Error ? String(widgets).includes('cost') : true)
  },
  'the whole Status': async (t) => {
    const widgets = await define(t, {
      properties: {
        spec: {
          type: 'object',
          properties: { a: int },
          'x-kubernetes-validations': [
            rule('self.a > 0', { message: 'no', reason: 'FieldValueForbidden', fieldPath: '.a' }),
          ],
        },
      },
    })
    await t.post(widgets.path(await t.namespace()), widgets.object('a', { spec: { a: 0 } }))
  },
})
