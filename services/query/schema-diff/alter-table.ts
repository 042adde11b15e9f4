import { quoteName } from '#shared/sql/statement-text.ts'
import { type AlterCommand, alterColumns, isEqualSql } from './alter-columns.ts'
import { formatColumn, type ObjectDefinition } from './definition.ts'
import { findNames, normalizeEngine, splitKey } from './parse-definition.ts'

/** Settings of MergeTree that ALTER cannot change. */
const fixedSettings = new Set([
  'index_granularity',
  'index_granularity_bytes',
  'enable_mixed_granularity_parts',
  'add_minmax_index_for_numeric_columns',
  'add_minmax_index_for_string_columns',
  'table_disk',
])

const primaryKeyOf = ({ clauses }: ObjectDefinition): string[] =>
  splitKey(clauses.get('PRIMARY KEY') ?? clauses.get('ORDER BY') ?? '')
const sortingKeyOf = ({ clauses }: ObjectDefinition): string[] => splitKey(clauses.get('ORDER BY') ?? '')

/** Returns why ALTER cannot turn a table into another one; undefined if it can. */
export const findUnalterable = (base: ObjectDefinition, target: ObjectDefinition): string | undefined => {
  if (normalizeEngine(base.engine) !== normalizeEngine(target.engine)) return 'the engine'
  if (!isEqualSql(base.clauses.get('PARTITION BY') ?? '', target.clauses.get('PARTITION BY') ?? ''))
    return 'PARTITION BY'
  if (primaryKeyOf(base).join() !== primaryKeyOf(target).join()) return 'the primary key'
  if (!isExtendedKey(base, target)) return 'ORDER BY, except for new columns at its end,'
  const fixed = [...fixedSettings].find((name) => base.settings.get(name) !== target.settings.get(name))
  if (fixed !== undefined) return `the setting ${fixed}`
  const keys = findNames(
    [
      ...['PARTITION BY', 'ORDER BY', 'PRIMARY KEY', 'SAMPLE BY'].map((key) => base.clauses.get(key) ?? ''),
      base.engine,
    ].join(' '),
  )
  const types = new Map(target.columns.map(({ name, type }) => [name, type]))
  const column = base.columns.find(({ name, type }) => keys.has(name) && !isAllowedInKey(type, types.get(name)))
  return column && `the type of the key column ${quoteName(column.name)}`
}

/** Of a key column, ALTER can only change an Enum to one with more values. */
const isAllowedInKey = (before: string, after: string | undefined): boolean =>
  after !== undefined &&
  (isEqualSql(before, after) || (/^Enum(?:8|16)\(/.test(before) && after.startsWith(before.slice(0, -1))))

/** New columns can be added to the end of ORDER BY, and elements after the primary key can be removed from it. */
const isExtendedKey = (base: ObjectDefinition, target: ObjectDefinition): boolean => {
  const [before, after] = [sortingKeyOf(base), sortingKeyOf(target)]
  const shorter = Math.min(before.length, after.length)
  if (before.slice(0, shorter).join() !== after.slice(0, shorter).join()) return false
  const existing = new Set(base.columns.map(({ name }) => name))
  return after
    .slice(before.length)
    .every(
      (element) =>
        !existing.has(element) &&
        target.columns.some(({ name, defaultKind }) => name === element && defaultKind === ''),
    )
}

/** Returns the commands that turn a MergeTree table into another one. Requires that ALTER can do it. */
export const alterTable = (base: ObjectDefinition, target: ObjectDefinition): AlterCommand[] => {
  const names = ['indexes', 'projections', 'constraints'] as const
  return [
    ...names.flatMap((kind) => dropElements(kind, base, target)),
    ...alterOrder(base, target),
    ...alterColumns(withKeyColumns(base, target), target),
    ...names.flatMap((kind) => addElements(kind, base, target)),
    ...alterClauses(base, target),
    ...alterSettings(base, target),
    ...(isEqualSql(base.comment, target.comment) ? [] : [safe(`MODIFY COMMENT ${target.comment || "''"}`)]),
  ]
}

const safe = (command: string, note = ''): AlterCommand => ({ command, risk: 'safe', note })

const newKeyColumns = (base: ObjectDefinition, target: ObjectDefinition) => {
  const elements = new Set(sortingKeyOf(target).slice(sortingKeyOf(base).length))
  return target.columns.filter(({ name }) => elements.has(name))
}

/** Returns the base with the columns that the change of ORDER BY adds to its end. */
const withKeyColumns = (base: ObjectDefinition, target: ObjectDefinition): ObjectDefinition => ({
  ...base,
  columns: [...base.columns, ...newKeyColumns(base, target)],
})

const alterOrder = (base: ObjectDefinition, target: ObjectDefinition): AlterCommand[] => {
  if (sortingKeyOf(base).join() === sortingKeyOf(target).join()) return []
  const added = newKeyColumns(base, target).map(
    (column) => `ADD COLUMN ${quoteName(column.name)} ${formatColumn(column)}`,
  )
  return [safe([...added, `MODIFY ORDER BY ${target.clauses.get('ORDER BY') ?? ''}`].join(', '))]
}

const words = { indexes: 'INDEX', projections: 'PROJECTION', constraints: 'CONSTRAINT' } as const
const notes = {
  indexes: 'existing parts need MATERIALIZE INDEX',
  projections: 'existing parts need MATERIALIZE PROJECTION',
  constraints: 'existing rows are not checked',
}
type ElementKind = keyof typeof words

const isChanged = (kind: ElementKind, name: string, base: ObjectDefinition, target: ObjectDefinition): boolean =>
  !isEqualSql(base[kind].get(name) ?? '', target[kind].get(name) ?? '')

const dropElements = (kind: ElementKind, base: ObjectDefinition, target: ObjectDefinition): AlterCommand[] =>
  [...base[kind].keys()]
    .filter((name) => isChanged(kind, name, base, target))
    .map((name) =>
      safe(`DROP ${words[kind]} ${quoteName(name)}`, kind === 'constraints' ? '' : 'it can be built again'),
    )

const addElements = (kind: ElementKind, base: ObjectDefinition, target: ObjectDefinition): AlterCommand[] =>
  [...target[kind]]
    .filter(([name]) => isChanged(kind, name, base, target))
    .map(([name, definition]) => safe(`ADD ${words[kind]} ${quoteName(name)} ${definition}`, notes[kind]))

const alterClauses = (base: ObjectDefinition, target: ObjectDefinition): AlterCommand[] => {
  const change = (clause: string, modify: (text: string) => AlterCommand): AlterCommand[] => {
    const [before, after] = [base.clauses.get(clause) ?? '', target.clauses.get(clause) ?? '']
    if (isEqualSql(before, after)) return []
    return [after === '' ? safe(`REMOVE ${clause}`) : modify(after)]
  }
  return [
    ...change('SAMPLE BY', (text) => safe(`MODIFY SAMPLE BY ${text}`)),
    ...change('TTL', (text) => ({
      command: `MODIFY TTL ${text}`,
      risk: 'data-loss',
      note: 'deletes or moves rows that are expired according to the TTL',
    })),
  ]
}

const alterSettings = (base: ObjectDefinition, target: ObjectDefinition): AlterCommand[] => {
  const reset = [...base.settings.keys()].filter((name) => !target.settings.has(name))
  const modified = [...target.settings].filter(([name, value]) => !isEqualSql(base.settings.get(name) ?? '', value))
  const hasPolicy = modified.some(([name]) => name === 'storage_policy' || name === 'disk')
  return [
    ...(modified.length > 0
      ? [
          safe(
            `MODIFY SETTING ${modified.map(([name, value]) => `${name} = ${value}`).join(', ')}`,
            hasPolicy ? 'the new storage policy must contain all disks of the old one' : '',
          ),
        ]
      : []),
    ...(reset.length > 0 ? [safe(`RESET SETTING ${reset.join(', ')}`)] : []),
  ]
}
