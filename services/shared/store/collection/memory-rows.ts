import type {
  ColumnValue,
  ColumnCondition,
  CollectionRow,
  RowQuery,
  RowTable,
  TableSpec,
  CollectionTables,
} from './rows.ts'

const defaultMaxDocuments = 10_000
const defaultMaxCharacters = 64 * 1024 * 1024

/** Creates tables in memory. A failed step is not rolled back. */
export const createMemoryTables = (): CollectionTables => {
  const rowsByTable = new Map<string, RowTable>()
  const lastSteps = new Map<string, Promise<unknown>>()
  const tables: CollectionTables = {
    kind: 'memory',
    // There is nothing to report: rows that this process wrote are always readable.
    report: () => {},
    of(table) {
      const rows = rowsByTable.get(table.name) ?? createMemoryRows(table)
      rowsByTable.set(table.name, rows)
      return rows
    },
    atomically(step, lockName) {
      if (lockName === undefined) return step(tables)
      const result = (lastSteps.get(lockName) ?? Promise.resolve()).then(() => step(tables))
      const ended = result
        .catch(() => undefined)
        .then(() => {
          if (lastSteps.get(lockName) === ended) lastSteps.delete(lockName)
        })
      lastSteps.set(lockName, ended)
      return result
    },
  }
  return tables
}

const createMemoryRows = ({ supersedes, memory = {} }: TableSpec): RowTable => {
  const { maxDocuments = defaultMaxDocuments, maxCharacters = defaultMaxCharacters } = memory
  const rows = new Map<string, CollectionRow>()
  // Uses one iterator for the lifetime of the table, because a new one would skip all removed entries again.
  const oldest = rows.keys()
  const usage = { characters: 0 }
  const drop = (id: string): boolean => {
    usage.characters -= rows.get(id)?.document.length ?? 0
    return rows.delete(id)
  }
  const isOverfull = () => rows.size > maxDocuments || (usage.characters > maxCharacters && rows.size > 1)
  const write = (row: CollectionRow): void => {
    // Removes the row first, so that the replaced row becomes the newest.
    drop(row.id)
    rows.set(row.id, row)
    usage.characters += row.document.length
    while (isOverfull()) drop(oldest.next().value ?? '')
  }
  const matching = (where: readonly ColumnCondition[]) =>
    [...rows.values()].filter((row) => where.every(createRowFilter(row)))
  return {
    async put(written, existing) {
      const due = written.filter((row) => {
        const present = rows.get(row.id)
        const isDue = present === undefined || (existing === 'replace' && isSuperseded(present, row, supersedes))
        if (isDue) write(row)
        return isDue
      })
      return due.length
    },
    async swap(row, version) {
      if (rows.get(row.id)?.version !== version) return false
      write(row)
      return true
    },
    get: async (id) => rows.get(id),
    texts: async ({ where, limit, after, ...order }, text) => {
      const compare = createComparator(order)
      const last = after && { id: after.id, values: { [order.orderBy ?? '']: after.value } }
      return matching(where)
        .filter((row) => last === undefined || compare(row, last) > 0)
        .toSorted(compare)
        .slice(0, limit)
        .map((row) => ({ id: row.id, value: valueOf(row, order.orderBy ?? 'id'), text: row[text] ?? '' }))
    },
    count: async (where) => matching(where).length,
    remove: async (where) => matching(where).filter(({ id }) => drop(id)).length,
  }
}

const isSuperseded = (present: CollectionRow, written: CollectionRow, supersedes: TableSpec['supersedes']): boolean => {
  if (supersedes === undefined) return true
  const { grows, final } = supersedes
  if (Number(present.values[grows]) > Number(written.values[grows])) return false
  return final === undefined || valueOf(present, final) === null || valueOf(written, final) !== null
}

const valueOf = ({ id, values }: Pick<CollectionRow, 'id' | 'values'>, column: string): ColumnValue =>
  column === 'id' ? id : (values[column] ?? null)

const createRowFilter =
  (row: CollectionRow) =>
  (condition: ColumnCondition): boolean => {
    const value = valueOf(row, condition.column)
    if ('among' in condition) return condition.among.includes(value)
    if (value === null) return false
    if ('contains' in condition) return String(value).includes(condition.contains)
    if ('isSet' in condition) return true
    const { from, before } = condition
    return (from === undefined || value >= from) && (before === undefined || value < before)
  }

const createComparator =
  ({ orderBy = 'id', descending = false }: Pick<RowQuery, 'orderBy' | 'descending'>) =>
  (one: Pick<CollectionRow, 'id' | 'values'>, other: Pick<CollectionRow, 'id' | 'values'>): number =>
    (descending ? -1 : 1) * compareValues(valueOf(one, orderBy), valueOf(other, orderBy)) ||
    compareValues(one.id, other.id)

const compareValues = (one: ColumnValue, other: ColumnValue): number => {
  if (one === other || one === null || other === null) return 0
  return one < other ? -1 : 1
}
