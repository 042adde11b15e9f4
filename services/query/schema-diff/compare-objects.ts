import { createTwoFilesPatch } from 'diff'
import type { SchemaDifference, SchemaRisk, SchemaStatement } from '#proto/schema-diff.ts'
import { quoteName } from '#shared/sql/statement-text.ts'
import { alterTable, findUnalterable } from './alter-table.ts'
import { type ObjectDefinition, quoteTable } from './definition.ts'
import { formatDefinition } from './format-definition.ts'
import { findNames, normalizeSql } from './parse-definition.ts'

/** When a statement runs, relative to those of other objects. */
const steps = [
  'create-database',
  'drop-view',
  'create-dictionary',
  'change-table',
  'create-view',
  'drop',
  'drop-database',
] as const
type Step = (typeof steps)[number]

/** A statement before it is put in order. */
interface PlannedStatement extends SchemaStatement {
  step: Step
}

/** A schema: the definitions of databases by name, and the objects in them by their full name. */
export interface Schema {
  databases: ReadonlyMap<string, string>
  objects: ReadonlyMap<string, string | ObjectDefinition>
}

/** The difference of two schemas, with the statements in the order in which they have to run. */
interface SchemaComparison {
  differences: SchemaDifference[]
  statements: SchemaStatement[]
}

type Side = string | ObjectDefinition | undefined

/** Compares two schemas. */
export const compareSchemas = (base: Schema, target: Schema): SchemaComparison => {
  const databases = namesOf(base.databases, target.databases).flatMap((name) =>
    compareDatabases(name, base.databases.get(name), target.databases.get(name)),
  )
  const objects = namesOf(base.objects, target.objects).flatMap((name) =>
    compareObjects(name, base.objects.get(name), target.objects.get(name)),
  )
  const found = [...databases, ...objects]
  return {
    differences: found.map(({ difference }) => difference),
    statements: sortStatements(found.flatMap(({ statements }) => statements)),
  }
}

const namesOf = (...maps: readonly ReadonlyMap<string, unknown>[]): string[] =>
  [...new Set(maps.flatMap((map) => [...map.keys()]))].toSorted()

interface ObjectComparison {
  difference: SchemaDifference
  statements: PlannedStatement[]
}

const createPatch = (name: string, base: string, target: string): string => {
  const patch = createTwoFilesPatch(name, name, base, target, '', '', { context: 3 })
  return patch.slice(patch.indexOf('---'))
}

const changeOf = (base: unknown, target: unknown): SchemaDifference['change'] => {
  if (base === undefined) return 'created'
  return target === undefined ? 'removed' : 'changed'
}

const hasSecret = (sql: string): boolean => sql.includes('[HIDDEN]')

const plan = (object: string, step: Step, sql: string, risk: SchemaRisk = 'safe', note = ''): PlannedStatement =>
  hasSecret(sql)
    ? { object, step, sql, risk: 'manual', note: [note, 'replace [HIDDEN] by the secret'].filter(Boolean).join('; ') }
    : { object, step, sql, risk, note }

/** A definition of a database is its engine, followed by its comment. */
const splitDatabase = (definition: string): { engine: string; comment: string } => {
  const [engine = '', ...comment] = definition.split(' COMMENT ')
  return { engine, comment: comment.join(' COMMENT ') }
}

const quoteComment = (comment: string): string => `'${comment.replaceAll(/[\\']/g, String.raw`\$&`)}'`

const compareDatabases = (name: string, base: string | undefined, target: string | undefined): ObjectComparison[] => {
  if (base === target) return []
  const lines = (definition: string | undefined): string => {
    if (definition === undefined) return ''
    const { engine, comment } = splitDatabase(definition)
    return `DATABASE ${quoteName(name)}\nENGINE = ${engine}\n${comment && `COMMENT ${quoteComment(comment)}\n`}`
  }
  return [
    {
      difference: {
        kind: 'database',
        name,
        change: changeOf(base, target),
        diff: createPatch(name, lines(base), lines(target)),
      },
      statements: changeDatabase(name, base, target),
    },
  ]
}

const simpleEngines = new Set(['Atomic', 'Ordinary', 'Memory'])

const changeDatabase = (name: string, base: string | undefined, target: string | undefined): PlannedStatement[] => {
  const quoted = quoteName(name)
  if (target === undefined) {
    return [
      plan(name, 'drop-database', `DROP DATABASE ${quoted}`, 'data-loss', 'deletes the database with all its tables'),
    ]
  }
  const { engine, comment } = splitDatabase(target)
  if (base === undefined) {
    const isSimple = simpleEngines.has(engine)
    const sql = `CREATE DATABASE ${quoted} ENGINE = ${engine}${comment && ` COMMENT ${quoteComment(comment)}`}`
    return [
      plan(
        name,
        'create-database',
        sql,
        isSimple ? 'safe' : 'manual',
        isSimple ? '' : 'add the arguments of the engine',
      ),
    ]
  }
  const before = splitDatabase(base)
  const changeComment = plan(
    name,
    'create-database',
    `ALTER DATABASE ${quoted} MODIFY COMMENT ${quoteComment(comment)}`,
    'safe',
    'servers before 25.1 cannot change the comment of a database',
  )
  const changeEngine = plan(
    name,
    'create-database',
    `-- The engine of a database cannot be changed from ${before.engine} to ${engine}. Create another database with it, and move the tables.`,
    'manual',
    'ALTER cannot change the engine of a database',
  )
  return [...(before.engine === engine ? [] : [changeEngine]), ...(before.comment === comment ? [] : [changeComment])]
}

const kindOf = (object: Side): SchemaDifference['kind'] =>
  object === undefined || typeof object === 'string' ? 'table' : object.kind

const compareObjects = (name: string, base: Side, target: Side): ObjectComparison[] => {
  const [before, after] = [formatSide(base), formatSide(target)]
  // Definitions that are only formatted differently are equal.
  if (normalizeSide(before) === normalizeSide(after) && base !== undefined && target !== undefined) return []
  const difference = {
    kind: kindOf(target ?? base),
    name,
    change: changeOf(base, target),
    diff: createPatch(name, before, after),
  }
  return [{ difference, statements: changeObject(name, base, target) }]
}

const formatSide = (object: Side): string => {
  if (object === undefined) return ''
  return typeof object === 'string' ? `${object}\n` : formatDefinition(object)
}

const normalizeSide = (text: string): string => {
  try {
    return normalizeSql(text)
  } catch {
    return text
  }
}

const changeObject = (name: string, base: Side, target: Side): PlannedStatement[] => {
  if (typeof base === 'string' || typeof target === 'string') {
    const sql = '-- The definition cannot be parsed. Compare both definitions.'
    return [plan(name, 'change-table', sql, 'manual', 'no statement could be derived')]
  }
  if (!target) return base ? [dropObject(name, base)] : []
  if (!base) return [createObject(name, target)]
  if (base.kind !== target.kind) return [{ ...dropObject(name, base), step: 'drop-view' }, createObject(name, target)]
  if (target.kind === 'table') return changeTable(name, base, target)
  return changeView(name, base, target)
}

const createSteps = {
  table: 'change-table',
  dictionary: 'create-dictionary',
  view: 'create-view',
  'materialized-view': 'create-view',
} as const

const createObject = (name: string, target: ObjectDefinition): PlannedStatement =>
  plan(name, createSteps[target.kind], target.statement, 'safe', replicaNote(target))

/** A path with fixed names belongs to one table. */
const replicaNote = ({ engine }: ObjectDefinition): string =>
  /^Replicated\w*\('/.test(engine) && !engine.includes('{uuid}') ? 'check the Keeper path of the replica' : ''

const dropObject = (name: string, base: ObjectDefinition): PlannedStatement => {
  const word = base.kind === 'dictionary' ? 'DICTIONARY' : base.kind === 'table' ? 'TABLE' : 'VIEW'
  const holdsRows = base.kind === 'table' ? storesRows(base) : base.kind === 'materialized-view' && !hasTarget(base)
  const step = base.kind === 'table' || base.kind === 'dictionary' ? 'drop' : 'drop-view'
  const sql = `DROP ${word} ${quoteTable(base)}`
  return holdsRows ? plan(name, step, sql, 'data-loss', 'deletes all rows') : plan(name, step, sql)
}

const hasTarget = ({ head }: ObjectDefinition): boolean => /\bTO\b/.test(head)

const storingEngines = /MergeTree$|Log$|^(?:Memory|Set|Join|EmbeddedRocksDB|KeeperMap|File)$/
const engineName = ({ engine }: ObjectDefinition): string => /^\w+/.exec(engine)?.[0] ?? ''
const storesRows = (table: ObjectDefinition): boolean => storingEngines.test(engineName(table))
const isMergeTree = (table: ObjectDefinition): boolean => engineName(table).endsWith('MergeTree')

const changeTable = (name: string, base: ObjectDefinition, target: ObjectDefinition): PlannedStatement[] => {
  if (!storesRows(base) && !storesRows(target)) {
    const sql = target.statement.replace('CREATE TABLE', 'CREATE OR REPLACE TABLE')
    const isDistributed = engineName(base) === 'Distributed'
    const note = isDistributed ? 'rows that are not yet sent to other hosts are lost' : 'the table stores no rows'
    return [plan(name, 'change-table', sql, isDistributed ? 'data-loss' : 'safe', note)]
  }
  const isAlterable = isMergeTree(base) && isMergeTree(target)
  const reason = isAlterable ? findUnalterable(base, target) : `a table of the engine ${engineName(base)}`
  if (reason !== undefined) return recreateTable(name, base, target, reason)
  return alterTable(base, target).map(({ command, risk, note }) =>
    plan(name, 'change-table', `ALTER TABLE ${quoteTable(target)} ${command}`, risk, note),
  )
}

/** Returns the statements that replace a table by a new one with its rows. */
const recreateTable = (
  name: string,
  base: ObjectDefinition,
  target: ObjectDefinition,
  reason: string,
): PlannedStatement[] => {
  const copy = { ...target, name: `${target.name}_new` }
  const isInserted = ({ defaultKind }: { defaultKind: string }): boolean =>
    defaultKind === '' || defaultKind === 'DEFAULT'
  const stored = new Set(
    base.columns.filter(({ defaultKind }) => defaultKind !== 'EPHEMERAL').map((column) => column.name),
  )
  const common = target.columns.filter((column) => isInserted(column) && stored.has(column.name))
  const columns = common.map((column) => quoteName(column.name)).join(', ')
  const step = 'change-table'
  const path = replicaNote(target)
  const create = target.statement.replace(/^CREATE TABLE \S+/, `CREATE TABLE ${quoteTable(copy)}`)
  const reasonNote = `ALTER cannot change ${reason}: the rows are copied to a new table`
  return [
    plan(
      name,
      step,
      create,
      path === '' ? 'safe' : 'manual',
      [reasonNote, path && 'choose another Keeper path'].filter(Boolean).join('; '),
    ),
    plan(
      name,
      step,
      `INSERT INTO ${quoteTable(copy)} (${columns}) SELECT ${columns} FROM ${quoteTable(target)}`,
      'rewrite',
      'copies all rows; stop inserts before',
    ),
    plan(
      name,
      step,
      `EXCHANGE TABLES ${quoteTable(copy)} AND ${quoteTable(target)}`,
      'safe',
      'requires a database with the engine Atomic or Replicated',
    ),
    plan(
      name,
      step,
      `DROP TABLE ${quoteTable(copy)}`,
      'data-loss',
      'deletes the old table; compare the number of rows before',
    ),
  ]
}

const changeView = (name: string, base: ObjectDefinition, target: ObjectDefinition): PlannedStatement[] => {
  const { kind, statement } = target
  if (kind === 'view') return [plan(name, 'create-view', statement.replace('CREATE ', 'CREATE OR REPLACE '))]
  if (kind === 'dictionary')
    return [plan(name, 'create-dictionary', statement.replace('CREATE ', 'CREATE OR REPLACE '))]
  const rest = ({ query: _query, ...view }: ObjectDefinition): string => formatDefinition({ ...view, query: '' })
  if (normalizeSide(rest(base)) === normalizeSide(rest(target))) {
    const sql = `ALTER TABLE ${quoteTable(target)} MODIFY QUERY ${target.query}`
    return [plan(name, 'create-view', sql, 'safe', 'affects rows that are inserted later')]
  }
  const note = hasTarget(base)
    ? 'rows that are inserted before the view is created again are not in its table'
    : 'deletes all rows of the view'
  return [
    plan(name, 'drop-view', `DROP VIEW ${quoteTable(base)}`, 'data-loss', note),
    plan(name, 'create-view', statement),
  ]
}

/** Sorts statements by their steps. Within a step, an object comes after those that its definition names. */
const sortStatements = (planned: readonly PlannedStatement[]): SchemaStatement[] =>
  steps.flatMap((step) => {
    const groups = Map.groupBy(
      planned.filter((statement) => statement.step === step),
      ({ object }) => object,
    )
    const sorted: PlannedStatement[] = []
    const visited = new Set<string>()
    const visit = (object: string): void => {
      if (visited.has(object)) return
      visited.add(object)
      const statements = groups.get(object) ?? []
      const names = new Set(statements.flatMap(({ sql }) => [...safeNames(sql)]))
      for (const other of groups.keys()) if (names.has(other.slice(other.indexOf('.') + 1))) visit(other)
      sorted.push(...statements)
    }
    for (const object of groups.keys()) visit(object)
    // Objects are dropped before those that they name.
    const isDrop = step.startsWith('drop')
    return (isDrop ? sorted.toReversed() : sorted).map(({ step: _step, ...statement }) => statement)
  })

const safeNames = (sql: string): ReadonlySet<string> => {
  try {
    return findNames(sql)
  } catch {
    return new Set()
  }
}
