import { z } from 'zod'
import { defineReadTool, createToolResult, type Tool } from '#shared/tools/tool.ts'

/** Maximum length of a part of a skill, in characters. It is small enough that the result is never truncated. */
const maxPartLength = 10_000

/** The skills that the tool can load. */
interface Skills {
  list(): readonly { name: string }[]
  /** Returns a skill. Throws `not-found` with similar names if the skill is unknown. */
  load(name: string): { body: string }
}

/** Returns the tool that loads a skill. */
export const createLoadSkillTool = (skills: Skills): Tool => {
  const input = z.strictObject({
    name: z.string().min(1).max(64).describe('Name of the skill'),
    part: z.int().min(1).max(20).default(1).describe('Number of the part, for a long skill'),
  })
  const names = skills.list().map(({ name }) => name)
  return defineReadTool({
    name: 'load_skill',
    title: 'Load a skill',
    description: `Loads an expert guide with tested SQL; load one before you answer a difficult question: ${names.join(', ')}.`,
    feature: null,
    input,
    core: true,
    run: async ({ name, part }) => {
      const parts = splitIntoParts(skills.load(name).body)
      const text = parts[Math.min(part, parts.length) - 1] ?? ''
      const more = part < parts.length ? `; the next is part ${part + 1}` : ''
      return createToolResult(`${name}, part ${Math.min(part, parts.length)} of ${parts.length}${more}.`, { text })
    },
  })
}

/** Splits a text into parts at section boundaries. Splits within a section only if it is longer than a part. */
const splitIntoParts = (body: string): string[] => {
  const parts: string[] = []
  for (const section of body.split(/^(?=## )/m).flatMap(splitSection)) {
    const last = parts.at(-1)
    if (last !== undefined && last.length + section.length <= maxPartLength) parts[parts.length - 1] = last + section
    else parts.push(section)
  }
  return parts
}

const splitSection = (section: string): string[] =>
  Array.from({ length: Math.ceil(section.length / maxPartLength) }, (_, index) =>
    section.slice(index * maxPartLength, (index + 1) * maxPartLength),
  )
