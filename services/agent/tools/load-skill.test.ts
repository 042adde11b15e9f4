import { expect, it } from 'vitest'
import { openSkills } from '../skills/skills.ts'
import { countResponses } from '../testing/model-script.ts'
import { startAgent, type TestAgent } from '../testing/start-agent.ts'
import { createLoadSkillTool } from './load-skill.ts'

const maxParts = 4
const section = (title: string, length: number): string => `## ${title}\n${title[0]?.repeat(length)}\n`
const long = ['# Long\n', section('alpha', 6_000), section('beta', 5_000), section('gamma', 12_000)].join('')
const bodies = new Map([
  ['short-guide', '# Short\nLook at the parts.\n'],
  ['long-guide', long],
])
const tool = createLoadSkillTool({
  list: () => [...bodies.keys()].map((name) => ({ name })),
  load: (name) => ({ body: bodies.get(name) ?? '' }),
})

const open = (of: typeof tool) => startAgent({ script: [{ say: [{ text: 'yes' }] }], tools: [of] })

/** Loads parts of a skill and returns the tool results that the model received. */
const load = async (agent: TestAgent, name: string, parts: readonly number[]): Promise<string[]> => {
  agent.gateway.play((request) =>
    countResponses(request) === 0
      ? { say: parts.map((part) => ({ call: 'load_skill', with: { name, part } })) }
      : { say: [{ text: 'I have read it.' }] },
  )
  await agent.run('How?')
  const read = agent.gateway.requests.at(-1)?.messages.filter(({ role }) => role === 'tool') ?? []
  return read.map(({ content }) => content ?? '')
}

it('load_skill lists the skills, and returns a short one in one part', async () => {
  expect(tool.description).toContain('short-guide, long-guide')
  await using agent = await open(tool)
  const [content] = await load(agent, 'short-guide', [1])
  expect(content).toContain('part 1 of 1')
  expect(content).toContain('Look at the parts.')
})

it('returns a long skill in parts without truncating any', async () => {
  await using agent = await open(tool)
  const parts = await load(agent, 'long-guide', [1, 2, 3, 4])
  expect(parts[0]).toContain('part 1 of 4; the next is part 2')
  expect(parts[3]).toContain('part 4 of 4.')
  expect(parts.join('')).not.toContain('This result is incomplete')
  const letters = (letter: string) => parts.join('').split(letter.repeat(1_000)).length - 1
  // One run of a thousand letters is split between two parts, so it is not counted.
  expect([letters('a'), letters('b'), letters('g')]).toEqual([6, 5, 11])
})

it('returns every skill of the product completely, in few parts', async () => {
  const skills = await openSkills()
  await using agent = await open(createLoadSkillTool(skills))
  for (const { name } of skills.list()) {
    const parts = await load(agent, name, [1, 2, 3, maxParts])
    expect(parts.join('\n'), name).not.toContain('This result is incomplete')
    const last = skills.load(name).body.trimEnd().split('\n').at(-1) ?? ''
    expect(parts.at(-1), name).toContain(
      JSON.stringify(last)
        .slice(1, -1)
        .replaceAll('<', String.raw`\u003c`),
    )
  }
})
