import type { ReadCondition, SkipIndexType } from '#proto/advice-data.ts'
import { type Proposal, type ComparedColumn, listComparedColumns, type AdviceSubject } from '../advice-subject.ts'

const typesByCondition: Readonly<Record<ReadCondition['kind'], readonly SkipIndexType[]>> = {
  equality: ['minmax', 'set(100)', 'bloom_filter(0.01)'],
  range: ['minmax'],
  text: ['minmax', 'ngrambf_v1(4, 4096, 2, 0)'],
  other: [],
}

/** Proposes skip indexes for columns compared with constants. Returns none for FINAL, as no host can test them. */
export const proposeSkipIndexes = (subject: AdviceSubject): Proposal[] => {
  const { read, indexes } = subject
  if (read.isFinal) return []
  return listComparedColumns(subject)
    .filter(({ name }) => !indexes.some(({ expression }) => expression === name))
    .flatMap((column) => {
      const types = new Set(column.kinds.flatMap((kind) => typesByCondition[kind]))
      return [...types].map((type) => createProposal(read.sql, column, type))
    })
}

const createProposal = (table: string, column: ComparedColumn, type: SkipIndexType): Proposal => {
  const [family = type] = type.split('(')
  const name = `${column.name.replace(/\W/g, '_')}_${family}`
  return {
    kind: 'skip-index',
    purpose: `skip-index ${column.name}`,
    title: `A ${family} index on ${column.name}`,
    rationale: `The query filters by ${column.name}, which is not the first column of the sorting key. This index skips granules without matching rows.`,
    ddl: `ALTER TABLE ${table} ADD INDEX ${name} ${column.sql} TYPE ${type} GRANULARITY 1;\nALTER TABLE ${table} MATERIALIZE INDEX ${name}`,
    rewritten: null,
    includesValues: false,
    risk: 'Inserts and merges also build the index, and MATERIALIZE INDEX reads the column once as a mutation. Revert with DROP INDEX.',
    test: { by: 'index', column: column.name, type },
  }
}
