import { z } from 'zod'
import { readTool, result, type Tool } from '#shared/tools/tool.ts'

/** Maximum characters of one part of a skill, small enough that results are never truncated. */
const maxPartLength = 10_000

/** The skills that the tool can load. */
interface Skills {
  list(): readonly { name: string }[]
  /** Returns a skill; throws `not-found` with similar names for an unknown one. */
  load(name: string): { body: string }
}

/** Returns the tool that loads a skill. */
export const loadSkill = (skills: Skills): Tool => {
  const input = z.strictObject({
    name: z.string().min(1).max(64).describe('Name of the skill'),
    part: z.int().min(1).max(20).default(1).describe('Which part of a long one'),
  })
  const names = skills.list().map(({ name }) => name)
  return readTool({
    name: 'load_skill',
    title: 'Load a skill',
    description: `Loads an expert guide with tried SQL; take one before you answer a question that needs depth: ${names.join(', ')}.`,
    feature: null,
    input,
    core: true,
    run: async ({ name, part }) => {
      const parts = partsOf(skills.load(name).body)
      const text = parts[Math.min(part, parts.length) - 1] ?? ''
      const more = part < parts.length ? `; the next is part ${part + 1}` : ''
      return result(`${name}, part ${Math.min(part, parts.length)} of ${parts.length}${more}.`, { text })
    },
  })
}

/** Splits the text into parts between sections. Only a section that is longer than a part is split itself. */
const partsOf = (body: string): string[] => {
  const parts: string[] = []
  for (const section of body.split(/^(?=## )/m).flatMap(chopped)) {
    const last = parts.at(-1)
    if (last !== undefined && last.length + section.length <= maxPartLength) parts[parts.length - 1] = last + section
    else parts.push(section)
  }
  return parts
}

const chopped = (section: string): string[] =>
  Array.from({ length: Math.ceil(section.length / maxPartLength) }, (_, index) =>
    section.slice(index * maxPartLength, (index + 1) * maxPartLength),
  )
