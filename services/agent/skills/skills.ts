import { hash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import type { agent } from '#proto/agent.ts'
import type { ServiceHandlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { type SkillSummary, type skillMethods, SkillName } from '#proto/skills.ts'
import { YamlError, parseYaml } from '#shared/config/yaml.ts'
import { createNotFoundError } from '#shared/text/not-found.ts'

const ownDirectory = fileURLToPath(new URL('../../../skills', import.meta.url))

/** Maximum number of skills; more folders indicate a wrong path. */
const maxSkills = 500

/** The skills of the product. They are read once, when the process starts. */
export interface Skills {
  list(): readonly SkillSummary[]
  /** Returns a skill. Throws `not-found` with similar names if the skill is unknown. */
  load(name: string): Skill
}

/** Reads `SKILL.md` in every subfolder. Throws an error that lists each invalid file with its problem. */
export const openSkills = async (directory = ownDirectory): Promise<Skills> => {
  const entries = await readdir(directory, { withFileTypes: true })
  const folders = entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).toSorted()
  if (folders.length > maxSkills) throw new ServiceError('internal', `too many skills: the maximum is ${maxSkills}`)
  const read = await Promise.allSettled(folders.map((folder) => readFolder(directory, folder)))
  const problems = read.flatMap((each) => (each.status === 'rejected' ? [String(each.reason.message)] : []))
  if (problems.length > 0) throw new ServiceError('internal', problems.join('\n'))
  const skills = new Map(
    read.flatMap((each) => (each.status === 'fulfilled' ? [[each.value.name, each.value] as const] : [])),
  )
  const summaries = [...skills.values()].map(({ name, description, digest }) => ({ name, description, digest }))
  return {
    list: () => summaries,
    load: (name) => {
      const skill = skills.get(name)
      if (!skill) throw createNotFoundError('skill', name, skills.keys())
      return skill
    },
  }
}

const readFolder = async (directory: string, folder: string): Promise<Skill> => {
  const file = join(folder, 'SKILL.md')
  try {
    return parseSkill(folder, await readFile(join(directory, file), 'utf8'))
  } catch (error) {
    throw new Error(`${file}: ${describeError(error)}`, { cause: error })
  }
}

/** Returns the message of an error. For file system errors it contains the error code, but not the path. */
const describeError = (error: unknown): string => {
  if (!(error instanceof Error)) return 'cannot be read'
  return 'code' in error ? `cannot be read (${String(error.code)})` : error.message
}

/** Returns the handlers for skills. All users have the same skills. */
export const createSkillHandlers = (
  skills: Skills,
): Pick<ServiceHandlers<typeof agent>, keyof typeof skillMethods> => ({
  skills: async () => ({ skills: [...skills.list()] }),
  skill: async ({ name }) => {
    const { text, description, digest } = skills.load(name)
    return { name, description, digest, text }
  },
})

/** A guide that the agent loads for a difficult question. */
interface Skill {
  name: string
  description: string
  /** The SHA-256 hash of the file. */
  digest: `sha256:${string}`
  /** The whole file. */
  text: string
  /** The text without the front matter. */
  body: string
  statements: readonly SkillStatement[]
  /** An example value for each parameter of the statements. */
  examples: Readonly<Record<string, string>>
}

const exampleKeyPattern = /^example\.(\w+)$/

/** The front matter of a skill, in the format of agentskills.io. Unknown keys are rejected, as they have no effect. */
const FrontMatter = z.strictObject({
  name: SkillName,
  description: z.string().trim().min(1).max(1_024),
  license: z.string().max(128).optional(),
  compatibility: z.string().min(1).max(500).optional(),
  metadata: z.record(z.string().regex(exampleKeyPattern, 'must be example.<parameter>'), z.string()).default({}),
})

/** Parses the file of a skill. Throws an error that describes the problem. */
export const parseSkill = (folder: string, text: string): Skill => {
  const [front, yaml, body] = /^---\n([^]*?\n)---\n([^]*)$/.exec(text) ?? []
  if (front === undefined || yaml === undefined || body === undefined) {
    throw new Error('the file must begin with front matter between two --- lines')
  }
  const { name, description, metadata } = parseFrontMatter(yaml)
  if (name !== folder) throw new Error(`name: "${name}" differs from the folder "${folder}"`)
  if (body.trim() === '') throw new Error('no text after the front matter')
  const examples = Object.fromEntries(Object.entries(metadata).map(([key, value]) => [getExampleName(key), value]))
  const statements = extractStatements(body, text.slice(0, -body.length).split('\n').length)
  requireExamples(statements, examples)
  const digest = `sha256:${hash('sha256', text)}` as const
  return { name, description, digest, text, body, statements, examples }
}

const parseFrontMatter = (yaml: string): z.infer<typeof FrontMatter> => {
  const parsed = FrontMatter.safeParse(parseYamlLines(yaml))
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new Error([issue?.path.map(String).join('.'), issue?.message].filter(Boolean).join(': '))
}

const parseYamlLines = (yaml: string): unknown => {
  try {
    return parseYaml(yaml)
  } catch (error) {
    if (!(error instanceof YamlError)) throw error
    // The front matter starts on the second line of the file.
    throw new Error(`line ${error.line === undefined ? '?' : error.line + 1}: ${error.message}`, { cause: error })
  }
}

const getExampleName = (key: string): string => exampleKeyPattern.exec(key)?.[1] ?? key

/** Throws if a parameter has no example value, or if an example value belongs to no parameter. */
const requireExamples = (statements: readonly SkillStatement[], examples: Skill['examples']): void => {
  const open = new Set(statements.flatMap(({ sql }) => listParameters(sql)))
  const wanting = [...open].find((name) => !Object.hasOwn(examples, name))
  if (wanting !== undefined)
    throw new Error(`metadata: missing "example.${wanting}"; every parameter of a statement needs an example value`)
  const idle = Object.keys(examples).find((name) => !open.has(name))
  if (idle !== undefined) throw new Error(`metadata.example.${idle}: no statement has this parameter; remove it`)
}

/** A block of SQL in a skill. */
export interface SkillStatement {
  /** The line number in the file, starting at 1. */
  line: number
  sql: string
  /** The reason why the statement cannot be run unchanged; undefined if it can. */
  cannotRun: string | undefined
}

/** Returns the names of the parameters of a statement, written as `{name:Type}`. */
const listParameters = (sql: string): string[] => [
  ...new Set([...sql.matchAll(/\{(\w+):[^}]+\}/g)].map(([, name = '']) => name)),
]

const fencePattern = /^```(.*)$/

/** Returns all SQL blocks of a text; `firstLine` is its line number in the file. Throws for an invalid code block. */
const extractStatements = (text: string, firstLine = 1): SkillStatement[] => {
  const found: SkillStatement[] = []
  let open: { info: string; line: number; lines: string[] } | undefined
  for (const [index, line] of text.split('\n').entries()) {
    const [, info] = fencePattern.exec(line) ?? []
    if (info === undefined) open?.lines.push(line)
    else if (open === undefined) open = { info, line: firstLine + index, lines: [] }
    else if (info === '') {
      found.push(...parseStatement(open))
      open = undefined
    } else throw new Error(`line ${firstLine + index}: nested code block`)
  }
  if (open) throw new Error(`line ${open.line}: unclosed code block`)
  return found
}

const parseStatement = ({ info, line, lines }: { info: string; line: number; lines: readonly string[] }) => {
  const [, language, cannotRun] = /^(\w+)(?: cannot-run: (\S.*))?$/.exec(info) ?? []
  if (language === undefined) {
    throw new Error(`line ${line}: invalid code block: expected a language, or "sql cannot-run: <reason>"`)
  }
  if (language !== 'sql') return []
  const sql = lines.join('\n').trim()
  if (sql === '') throw new Error(`line ${line}: empty SQL block`)
  return [{ line, sql, cannotRun }]
}
