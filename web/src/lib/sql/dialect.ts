import { SQLDialect } from '@codemirror/lang-sql'
import { tagHighlighter, tags } from '@lezer/highlight'
import type { Vocabulary } from './vocabulary.ts'

/** Keywords and types that every server version supports. They are highlighted until those of the host are loaded. */
const commonKeywords =
  'all and anti any array as asc asof between by case cast cross cube date desc describe distinct else end except exists explain final format from full global group having ilike in inner intersect interval into is join left like limit not null offset on or order outer over partition prewhere qualify right rollup sample select semi settings show then ties timestamp totals union using values view when where window with'
const commonTypes =
  'array bool date date32 datetime datetime64 decimal enum8 enum16 fixedstring float32 float64 int8 int16 int32 int64 int128 int256 ipv4 ipv6 json lowcardinality map nested nullable string tuple uint8 uint16 uint32 uint64 uint128 uint256 uuid variant'

/** Returns a SQL dialect with the keywords, types and functions of the host. */
export const createClickHouseDialect = ({ keywords, types, functions }: Vocabulary): SQLDialect => {
  // Keyword phrases are split into words. A word that is also a function is highlighted as a function.
  const called = new Set(functions.map(({ name }) => name.toLowerCase()))
  const words = new Set(keywords.flatMap((phrase) => phrase.toLowerCase().split(/\s+/)))
  const only = [...words].filter((word) => /^[a-z_]+$/.test(word) && !called.has(word))
  return SQLDialect.define({
    keywords: `${commonKeywords} ${only.join(' ')}`,
    types: `${commonTypes} ${types
      .map((name) => name.toLowerCase())
      .filter((name) => /^\w+$/.test(name))
      .join(' ')}`,
    builtin: functions
      .map(({ name }) => name.toLowerCase())
      .filter((name) => /^\w+$/.test(name) && !commonKeywords.split(' ').includes(name))
      .join(' '),
    backslashEscapes: true,
    hashComments: true,
    identifierQuotes: '`"',
    operatorChars: '*+-%<>!=&|~^/?:',
    specialVar: '',
    caseInsensitiveIdentifiers: false,
  })
}

/** Highlight colours, with sufficient contrast in both themes. */
export const sqlHighlighter = tagHighlighter([
  { tag: tags.keyword, class: 'font-medium text-accent' },
  { tag: [tags.typeName, tags.bool, tags.null], class: 'text-warn' },
  { tag: tags.standard(tags.name), class: 'font-medium' },
  { tag: [tags.string, tags.number], class: 'text-good' },
  { tag: tags.comment, class: 'text-ink-faint italic' },
])
