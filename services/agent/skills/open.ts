import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ServiceError } from '#proto/errors.ts'
import type { SkillSummary } from '#proto/skills.ts'
import { noSuch } from '#shared/text/no-such.ts'
import { readSkill, type Skill } from './read-skill.ts'

const ownDirectory = fileURLToPath(new URL('../../../skills', import.meta.url))

/** More folders than this are a mistake in the path. */
const mostSkills = 500

/** All skills, as they were when the process began. */
export interface Skills {
  list(): readonly SkillSummary[]
  /** `not-found` with the nearest names for an unknown one. */
  load(name: string): Skill
}

/** Reads `<name>/SKILL.md` of every folder. All must be right: throws a sentence that names each file and what is wrong in it. */
export const openSkills = async (directory = ownDirectory): Promise<Skills> => {
  const entries = await readdir(directory, { withFileTypes: true })
  const folders = entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).toSorted()
  if (folders.length > mostSkills) throw new ServiceError('internal', `more than ${mostSkills} skills in one folder`)
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
      if (!skill) throw noSuch('skill', name, skills.keys())
      return skill
    },
  }
}

const readFolder = async (directory: string, folder: string): Promise<Skill> => {
  const file = join(folder, 'SKILL.md')
  try {
    return readSkill(folder, await readFile(join(directory, file), 'utf8'))
  } catch (error) {
    throw new Error(`${file}: ${sentenceOf(error)}`, { cause: error })
  }
}

/** The errors of the file system name the whole path, which is nobody's business. */
const sentenceOf = (error: unknown): string => {
  if (!(error instanceof Error)) return 'cannot be read'
  return 'code' in error ? `cannot be read (${String(error.code)})` : error.message
}
