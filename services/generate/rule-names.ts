import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pino } from 'pino'
import { z } from 'zod'
import { openDefinitions } from '../query/definitions/definitions.ts'
import { root } from '../testing/source-file.ts'

const path = 'services/query/rules/names.json'

const Listed = z.record(z.string(), z.array(z.string()))
const Names = z.looseObject({ rules: Listed, metrics: Listed })

/**
 * Returns `names.json` with the missing rules and metrics added. Names are never removed: scripts and silences use
 * them.
 */
export const generateRuleNames = async () => {
  const { rules, metrics, ...others } = Names.parse(JSON.parse(await readFile(join(root, path), 'utf8')))
  const there = await openDefinitions(pino({ level: 'silent' }))
  const names = { rules: addNames(rules, there.rules), metrics: addNames(metrics, there.metrics), ...others }
  return { path, content: JSON.stringify(names) }
}

const addNames = (
  listed: z.infer<typeof Listed>,
  there: readonly { topic: string; name: string }[],
): z.infer<typeof Listed> => {
  const topics = [...new Set([...Object.keys(listed), ...there.map(({ topic }) => topic)])].toSorted()
  const namesOf = (wanted: string): string[] => [
    ...new Set([...(listed[wanted] ?? []), ...there.filter(({ topic }) => topic === wanted).map(({ name }) => name)]),
  ]
  return Object.fromEntries(topics.map((topic) => [topic, namesOf(topic).toSorted()]))
}
