import type { SchemaRisk } from '#proto/schema-diff.ts'
import { quoteName, quoteText } from '#shared/sql/statement-text.ts'
import { type Column, formatColumn, type ObjectDefinition } from './definition.ts'
import { ephemeralDefault, normalizeSql } from './parse-definition.ts'

/** A command of an `ALTER TABLE` with its risk. */
export interface AlterCommand {
  command: string
  risk: SchemaRisk
  note: string
}

export const isEqualSql = (one: string, other: string): boolean =>
  one === other || normalizeSql(one) === normalizeSql(other)

const isEqualColumn = (one: Column, other: Column): boolean => isEqualSql(formatColumn(one), formatColumn(other))

/** Returns the commands that turn the columns of a table into those of another one, in their order. */
export const alterColumns = (base: ObjectDefinition, target: ObjectDefinition): AlterCommand[] => {
  const wanted = new Map(target.columns.map((column) => [column.name, column]))
  const existing = new Map(base.columns.map((column) => [column.name, column]))
  const dropped = base.columns.filter(({ name }) => !wanted.has(name))
  const added = target.columns.filter(({ name }) => !existing.has(name))
  return [
    ...dropped.map((column) => dropColumn(column, added)),
    ...arrangeColumns(
      base.columns.filter(({ name }) => wanted.has(name)),
      target.columns,
    ),
    ...target.columns.flatMap((column) => {
      const before = existing.get(column.name)
      return before && !isEqualColumn(before, column)
        ? alterColumn(before, column, placeOf(target.columns, column))
        : []
    }),
  ]
}

const dropColumn = ({ name, type }: Column, added: readonly Column[]): AlterCommand => {
  const renamed = added.filter((column) => isEqualSql(column.type, type))
  const hint = renamed.map((column) => `RENAME COLUMN ${quoteName(name)} TO ${quoteName(column.name)}`).join(' or ')
  return {
    command: `DROP COLUMN ${quoteName(name)}`,
    risk: 'data-loss',
    note:
      hint === '' ? 'deletes the values of the column' : `deletes the values of the column; to keep them, use ${hint}`,
  }
}

const placeOf = (columns: readonly Column[], column: Column): string => {
  const before = columns[columns.indexOf(column) - 1]
  return before ? `AFTER ${quoteName(before.name)}` : 'FIRST'
}

/** Returns a column with its place. Without an expression, `EPHEMERAL` would read what follows as its expression. */
const formatPlacedColumn = (column: Column, place: string): string => {
  const isBare = column.defaultKind === 'EPHEMERAL' && column.defaultExpression === ''
  const defaultExpression = isBare ? `${ephemeralDefault}(${quoteText(column.type)})` : column.defaultExpression
  return `${quoteName(column.name)} ${formatColumn({ ...column, defaultExpression })} ${place}`
}

/** Returns the commands that add columns and move the existing ones to the order of the target. */
const arrangeColumns = (kept: readonly Column[], target: readonly Column[]): AlterCommand[] => {
  const positions = new Map(target.map(({ name }, index) => [name, index]))
  const inOrder = findLongestIncrease(kept.map(({ name }) => positions.get(name) ?? 0))
  const existing = new Map(kept.map((column) => [column.name, column]))
  return target.flatMap((column, index): AlterCommand[] => {
    const place = placeOf(target, column)
    const present = existing.get(column.name)
    if (!present) {
      return [{ command: `ADD COLUMN ${formatPlacedColumn(column, place)}`, risk: 'safe', note: '' }]
    }
    if (inOrder.has(index)) return []
    return [
      {
        command: `MODIFY COLUMN ${formatPlacedColumn(present, place)}`,
        risk: 'safe',
        note: 'changes the order of the columns only',
      },
    ]
  })
}

/** Returns the values of a longest increasing subsequence: the elements that need not move. */
const findLongestIncrease = (values: readonly number[]): ReadonlySet<number> => {
  const lengths: number[] = []
  const previous: number[] = []
  let best = -1
  for (const [index, value] of values.entries()) {
    let from = -1
    for (let before = 0; before < index; before++) {
      if ((values[before] ?? 0) < value && (lengths[before] ?? 0) > (lengths[from] ?? 0)) from = before
    }
    lengths[index] = (lengths[from] ?? 0) + 1
    previous[index] = from
    if ((lengths[index] ?? 0) > (lengths[best] ?? 0)) best = index
  }
  const found = new Set<number>()
  for (let index = best; index >= 0; index = previous[index] ?? -1) found.add(values[index] ?? 0)
  return found
}

/** Returns the commands that change one column. */
const alterColumn = (before: Column, after: Column, place: string): AlterCommand[] => {
  const name = quoteName(after.name)
  const isEphemeral = [before, after].some(({ defaultKind }) => defaultKind === 'EPHEMERAL')
  const isComputed = (column: Column): boolean => column.defaultKind === 'ALIAS'
  if ((isEphemeral || isComputed(before) !== isComputed(after)) && !isEqualDefault(before, after)) {
    const isStored = !isComputed(before) && before.defaultKind !== 'EPHEMERAL'
    return [
      {
        command: `DROP COLUMN ${name}, ADD COLUMN ${formatPlacedColumn(after, place)}`,
        risk: isStored ? 'data-loss' : 'safe',
        note: isStored ? 'deletes the stored values of the column' : 'the column has no stored values',
      },
    ]
  }
  return [...removeClauses(before, after), ...modifyColumn(before, after)]
}

const isEqualDefault = (one: Column, other: Column): boolean =>
  one.defaultKind === other.defaultKind && isEqualSql(one.defaultExpression, other.defaultExpression)

const removeClauses = (before: Column, after: Column): AlterCommand[] => {
  const removed = [
    before.defaultKind && !after.defaultKind && before.defaultKind,
    before.codec && !after.codec && 'CODEC',
    before.ttl && !after.ttl && 'TTL',
    before.comment && !after.comment && 'COMMENT',
    before.settings && !after.settings && 'SETTINGS',
  ]
  const commands = removed.filter(Boolean).map((clause): AlterCommand => {
    const note = clause === 'CODEC' ? 'affects parts that are written or merged later' : ''
    return { command: `MODIFY COLUMN ${quoteName(after.name)} REMOVE ${clause}`, risk: 'safe', note }
  })
  const hasStatistics = before.statistics !== '' && after.statistics === ''
  return hasStatistics
    ? [...commands, { command: `DROP STATISTICS ${quoteName(after.name)}`, risk: 'safe', note: '' }]
    : commands
}

const clauseKeys = ['defaultKind', 'defaultExpression', 'codec', 'ttl', 'settings'] as const

const modifyColumn = (before: Column, after: Column): AlterCommand[] => {
  const name = quoteName(after.name)
  const hasType = !isEqualSql(before.type, after.type)
  const hasTtl = after.ttl !== '' && !isEqualSql(before.ttl, after.ttl)
  const isModified = hasType || clauseKeys.some((key) => after[key] !== '' && !isEqualSql(before[key], after[key]))
  const commands: AlterCommand[] = []
  if (isModified) {
    const definition = formatColumn({ ...after, comment: '', statistics: '' })
    commands.push({
      command: `MODIFY COLUMN ${name} ${definition}`,
      ...rateModification(before, after, hasType, hasTtl),
    })
  }
  if (after.comment !== '' && !isEqualSql(before.comment, after.comment)) {
    commands.push({ command: `COMMENT COLUMN ${name} ${after.comment}`, risk: 'safe', note: '' })
  }
  if (after.statistics !== '' && !isEqualSql(before.statistics, after.statistics)) {
    const types = after.statistics.slice(1, -1)
    const verb = before.statistics === '' ? 'ADD' : 'MODIFY'
    const note = 'requires allow_experimental_statistics; existing parts need MATERIALIZE STATISTICS'
    commands.push({ command: `${verb} STATISTICS ${name} TYPE ${types}`, risk: 'safe', note })
  }
  return commands
}

const rateModification = (before: Column, after: Column, hasType: boolean, hasTtl: boolean) => {
  if (hasTtl) return { risk: 'data-loss', note: 'deletes values that are expired according to the TTL' } as const
  if (hasType) {
    const note = `converts all values from ${before.type} to ${after.type}`
    return isWidening(before.type, after.type)
      ? ({ risk: 'rewrite', note } as const)
      : ({ risk: 'data-loss', note: `${note}; values that do not fit are changed, or the mutation fails` } as const)
  }
  const isCodec = after.codec !== '' && !isEqualSql(before.codec, after.codec)
  return { risk: 'safe', note: isCodec ? 'affects parts that are written or merged later' : '' } as const
}

const unwrapType = (type: string): string => type.replace(/^(?:LowCardinality|Nullable)\((.*)\)$/, '$1')
const numberType = /^(U?Int|Float)(\d+)$/

/** Returns whether the new type can represent all values of the old one. */
const isWidening = (before: string, after: string): boolean => {
  const [from, to] = [unwrapType(unwrapType(before)), unwrapType(unwrapType(after))]
  if (before.includes('Nullable(') && !after.includes('Nullable(')) return false
  if (from === to || to === 'String') return true
  const [one, other] = [numberType.exec(from), numberType.exec(to)]
  if (!one || !other) return false
  const [bits, wanted] = [Number(one[2]), Number(other[2])]
  if (one[1] === other[1]) return wanted >= bits
  return one[1] === 'UInt' && other[1] === 'Int' && wanted > bits
}
