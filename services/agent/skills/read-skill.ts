import { hash } from 'node:crypto'
import { z } from 'zod'
import { SkillName } from '#proto/skills.ts'
import { NoYaml, parseYaml } from '#shared/config/yaml.ts'
import { openParameters, type SkillStatement, statementsOf } from './statements.ts'

/** A guide that the agent loads when a question needs depth. */
export interface Skill {
  name: string
  description: string
  /** Of the file as it stands, which is also what is served. */
  digest: `sha256:${string}`
  /** The whole file. */
  text: string
  /** Without the front matter. */
  body: string
  statements: readonly SkillStatement[]
  /** For each parameter that the statements leave open, a value that it may have. */
  examples: Readonly<Record<string, string>>
}

const exampleKey = /^example\.(\w+)$/

/** As agentskills.io specifies it; further keys are refused, since nobody would read them. */
const FrontMatter = z.strictObject({
  name: SkillName,
  description: z.string().trim().min(1).max(1_024),
  license: z.string().max(128).optional(),
  compatibility: z.string().min(1).max(500).optional(),
  metadata: z.record(z.string().regex(exampleKey, 'must be example.<parameter>'), z.string()).default({}),
})

/** What a skill's file says. Throws a sentence that names what is wrong in it. */
export const readSkill = (folder: string, text: string): Skill => {
  const [front, yaml, body] = /^---\n([^]*?\n)---\n([^]*)$/.exec(text) ?? []
  if (front === undefined || yaml === undefined || body === undefined) {
    throw new Error('the file must begin with front matter between two lines of ---')
  }
  const { name, description, metadata } = parseFrontMatter(yaml)
  if (name !== folder) throw new Error(`name: must be ${folder}, as the folder is called`)
  if (body.trim() === '') throw new Error('there is nothing behind the front matter')
  const examples = Object.fromEntries(Object.entries(metadata).map(([key, value]) => [exampleNamed(key), value]))
  const statements = statementsOf(body, text.slice(0, -body.length).split('\n').length)
  requireExamples(statements, examples)
  const digest = `sha256:${hash('sha256', text)}` as const
  return { name, description, digest, text, body, statements, examples }
}

const parseFrontMatter = (yaml: string): z.infer<typeof FrontMatter> => {
  const parsed = FrontMatter.safeParse(parseLines(yaml))
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new Error([issue?.path.map(String).join('.'), issue?.message].filter(Boolean).join(': '))
}

const parseLines = (yaml: string): unknown => {
  try {
    return parseYaml(yaml)
  } catch (error) {
    if (!(error instanceof NoYaml)) throw error
    // The text begins on the second line of the file.
    throw new Error(`line ${error.line === undefined ? '?' : error.line + 1}: ${error.message}`, { cause: error })
  }
}

const exampleNamed = (key: string): string => exampleKey.exec(key)?.[1] ?? key

/** So that every statement can be tried, and no example is left from one that is gone. */
const requireExamples = (statements: readonly SkillStatement[], examples: Skill['examples']): void => {
  const open = new Set(statements.flatMap(({ sql }) => openParameters(sql)))
  const wanting = [...open].find((name) => !Object.hasOwn(examples, name))
  if (wanting !== undefined) throw new Error(`metadata: there is no example.${wanting}, which a statement leaves open`)
  const idle = Object.keys(examples).find((name) => !open.has(name))
  if (idle !== undefined) throw new Error(`metadata.example.${idle}: no statement leaves ${idle} open`)
}
