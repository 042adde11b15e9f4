import { expect, it } from 'vitest'
import { startAgent } from '../testing/start-agent.ts'
import { dataOf, ofType } from '../testing/start-agent.ts'
import { turnsTaken } from '../testing/script.ts'
import { loadSkill } from './load-skill.ts'

const section = (title: string, length: number): string => `## ${title}\n${title[0]?.repeat(length)}\n`
const long = ['# Long\n', section('alpha', 6_000), section('beta', 5_000), section('gamma', 12_000)].join('')
const bodies = new Map([
  ['short-guide', '# Short\nLook at the parts.\n'],
  ['long-guide', long],
])
const skills = {
  list: () => [...bodies.keys()].map((name) => ({ name })),
  load: (name: string) => ({ body: bodies.get(name) ?? '' }),
}
const tool = loadSkill(skills)

/** What the model reads of the skill. */
const load = async (input: object): Promise<string> => {
  await using agent = await startAgent({
    script: (request) =>
      turnsTaken(request) === 0
        ? { say: [{ call: 'load_skill', with: { ...input } }] }
        : { say: [{ text: 'I have read it.' }] },
    tools: [tool],
  })
  const { chunks } = await agent.ask('How?')
  expect(ofType(chunks, 'tool-output-available')).toHaveLength(1)
  expect(dataOf(chunks, 'data-error')).toBeUndefined()
  return String(agent.gateway.asked.at(-1)?.messages.at(-1)?.content)
}

it('load_skill names the skills, and tells a short one as a whole', async () => {
  expect(tool.description).toContain('short-guide, long-guide')
  const told = await load({ name: 'short-guide' })
  expect(told).toContain('part 1 of 1')
  expect(told).toContain('Look at the parts.')
})

it('tells a long skill in parts, of which none is cut', async () => {
  const parts = await Promise.all([1, 2, 3, 4].map((part) => load({ name: 'long-guide', part })))
  expect(parts[0]).toContain('part 1 of 4; the next is part 2')
  expect(parts[3]).toContain('part 4 of 4.')
  expect(parts.join('')).not.toContain('This is a part')
  // One thousand of them is cut in two where a part ends.
  const letters = (letter: string) => parts.join('').split(letter.repeat(1_000)).length - 1
  expect([letters('a'), letters('b'), letters('g')]).toEqual([6, 5, 11])
})
