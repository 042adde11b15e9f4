import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { parseYaml } from '#shared/config/yaml.ts'

const Mutation = z.strictObject({
  /** The requirement that the mutation makes false. */
  requirement: z.string(),
  /** What the mutated product does. */
  effect: z.string(),
  file: z.string(),
  /** Text that occurs once in the file. */
  before: z.string().min(1),
  after: z.string(),
  /** Whether `mutations.test.ts` also tries it. */
  short: z.boolean().default(false),
})

/** A change of the product that makes one requirement false, so that a test of the requirement must fail. */
export type Mutation = z.infer<typeof Mutation>

const readMutations = (file: string): Mutation[] =>
  z.array(Mutation).parse(parseYaml(readFileSync(join(import.meta.dirname, file), 'utf8')))

/** Returns the mutations of randomly drawn requirements, in the order of the draw. */
export const drawnMutations = (): Mutation[] => readMutations('mutations.yaml')

/** Returns every mutation: the drawn ones, then those chosen by hand. */
export const allMutations = (): Mutation[] => [...drawnMutations(), ...readMutations('chosen-by-hand.yaml')]

/** Returns the mutated text; undefined if the text to replace does not occur exactly once. */
export const mutate = (text: string, { before, after }: Mutation): string | undefined => {
  const [start, end, ...more] = text.split(before)
  return start === undefined || end === undefined || more.length > 0 ? undefined : start + after + end
}
