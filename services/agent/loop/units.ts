/** What a figure measures. `plain` is a count or a value without a unit, `times` a factor such as `3x`. */
export type FigureKind = 'plain' | 'bytes' | 'seconds' | 'percent' | 'times'

export interface Unit {
  kind: FigureKind
  scale: number
}

const bytes = (scale: number): Unit => ({ kind: 'bytes', scale })
const seconds = (scale: number): Unit => ({ kind: 'seconds', scale })
export const plain = (scale: number): Unit => ({ kind: 'plain', scale })

const byteUnits = ['k', 'm', 'g', 't', 'p', 'e'].flatMap((letter, index): [string, Unit[]][] => {
  const [binary, decimal] = [bytes(1024 ** (index + 1)), bytes(1000 ** (index + 1))]
  return [
    [`${letter}ib`, [binary]],
    [`${letter}b`, [decimal, binary]],
  ]
})

/** The units by their names in lower case. Only `B` and `K` to `T` stand for counts as well as for bytes. */
const units: ReadonlyMap<string, readonly Unit[]> = new Map<string, readonly Unit[]>([
  ...byteUnits,
  ...(
    [
      [['b'], [bytes(1), plain(1e9)]],
      [
        ['byte', 'bytes'],
        [bytes(1), plain(1)],
      ],
      [['k'], [plain(1e3), bytes(1024)]],
      [['g'], [plain(1e9), bytes(1024 ** 3)]],
      [['t'], [plain(1e12), bytes(1024 ** 4)]],
      [['hundred'], [plain(100)]],
      [['thousand'], [plain(1e3)]],
      [
        ['million', 'mln', 'mio'],
        [plain(1e6), bytes(1024 ** 2)],
      ],
      [['billion', 'bn'], [plain(1e9)]],
      [['trillion'], [plain(1e12)]],
      [['ns', 'nanosecond', 'nanoseconds'], [seconds(1e-9)]],
      [['µs', 'μs', 'us', 'microsecond', 'microseconds'], [seconds(1e-6)]],
      [['ms', 'msec', 'millisecond', 'milliseconds'], [seconds(1e-3)]],
      [['s', 'sec', 'secs', 'second', 'seconds'], [seconds(1)]],
      [['m', 'min', 'mins', 'minute', 'minutes'], [seconds(60)]],
      [['h', 'hr', 'hrs', 'hour', 'hours'], [seconds(3600)]],
      [['d', 'day', 'days'], [seconds(86_400)]],
      [['w', 'week', 'weeks'], [seconds(604_800)]],
      [['%', 'percent', 'pp', 'percentage point', 'percentage points'], [{ kind: 'percent', scale: 1 }]],
      [['x', '×', 'times', 'fold'], [{ kind: 'times', scale: 1 }]],
    ] satisfies [string[], Unit[]][]
  ).flatMap(([names, found]) => names.map((name): [string, readonly Unit[]] => [name, found])),
])

/** Returns the unit that a word of a column name stands for, such as `ms`; undefined for other words. */
export const findUnit = (word: string): Unit | undefined => units.get(word)?.[0]

/** `M` stands for millions or mebibytes, `m` for minutes. */
export const findUnits = (name: string): readonly Unit[] =>
  name === 'M' ? [plain(1e6), bytes(1024 ** 2)] : (units.get(name.toLowerCase()) ?? [])

/** The names of units as alternatives of a regular expression. */
export const unitNames = [...units.keys()]
  .toSorted((one, other) => other.length - one.length)
  // In `120 × 4`, `×` is an operator and not the unit `times`.
  .map((name) => (/^[x×]$/.test(name) ? String.raw`${name}(?!\s*[\d(])` : name))
  .join('|')
