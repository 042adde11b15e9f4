import type { ChartDefinition, Sql } from '#proto/catalogue.ts'

/** Where the reader decides whether our own statements count as queries. */
const ownSwitch: ChartDefinition['parameters'][number] = {
  name: 'own',
  type: 'Bool',
  default: 0,
  doc: 'Include the statements of Watchhouse itself.',
}

/** A definition that says `$people` means the queries of people and programs, and has the parameter that includes ours. */
export const withOwnSwitch = <D extends Pick<ChartDefinition, 'sql' | 'parameters'>>(definition: D): D => {
  const texts = typeof definition.sql === 'string' ? [definition.sql] : definition.sql.map(({ sql }) => sql)
  if (!texts.some((sql) => people.test(sql))) return definition
  return { ...definition, sql: spelledOut(definition.sql), parameters: [...definition.parameters, ownSwitch] }
}

const people = /\$people\b/

const spelledOut = (sql: Sql): Sql => {
  const spelled = (text: string): string => text.replaceAll(/\$people\b/g, () => '({own:Bool} OR NOT $own)')
  return typeof sql === 'string' ? spelled(sql) : sql.map((branch) => ({ ...branch, sql: spelled(branch.sql) }))
}
