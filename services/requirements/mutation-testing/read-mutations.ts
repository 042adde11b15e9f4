import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { parseYaml } from '#shared/config/yaml.ts'

const Mutation = z.strictObject({
  /** The id of the requirement that the mutated product violates. */
  requirement: z.string(),
  /** What the mutated product does wrong. */
  effect: z.string(),
  file: z.string(),
  /** The text to replace, which occurs exactly once in the file. */
  before: z.string().min(1),
  after: z.string(),
  /** Whether `mutation-testing.test.ts`, which runs with the ordinary tests, also tries the mutation. */
  short: z.boolean().default(false),
})

/** A change of the product that violates one requirement, so that a test of the requirement must fail. */
export type Mutation = z.infer<typeof Mutation>

const readMutations = (file: string): Mutation[] =>
  z.array(Mutation).parse(parseYaml(readFileSync(join(import.meta.dirname, file), 'utf8')))

/** Returns the mutations of a random sample of requirements, in the order of sampling. */
export const readSampledMutations = (): Mutation[] => readMutations('sampled.yaml')

/** Returns all mutations: first those of sampled requirements, then those selected manually. */
export const readAllMutations = (): Mutation[] => [...readSampledMutations(), ...readMutations('manual.yaml')]

/** Returns the mutated text of a file; undefined if the text to replace does not occur exactly once. */
export const applyMutation = (text: string, { before, after }: Mutation): string | undefined => {
  const [start, end, ...more] = text.split(before)
  return start === undefined || end === undefined || more.length > 0 ? undefined : start + after + end
}
