import { hash } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openSkills, parseSkill } from './skills.ts'

const front = 'name: parts\ndescription: Counts parts.\n'
const skill = (body: string, matter = front): string => `---\n${matter}---\n${body}`
const sql = (statement: string, info = 'sql'): string => `\`\`\`${info}\n${statement}\n\`\`\`\n`

describe('a skill', () => {
  it('contains its file and the statements in it', () => {
    const matter = `${front}metadata:\n  example.table: orders\n`
    const body = `# Parts\n${sql('SELECT {table:String}')}${sql('a, b', 'text')}${sql('DROP TABLE x', 'sql cannot-run: changes')}`
    const text = skill(body, matter)
    expect(parseSkill('parts', text)).toEqual({
      name: 'parts',
      description: 'Counts parts.',
      text,
      body,
      digest: `sha256:${hash('sha256', text)}`,
      statements: [
        { line: 8, sql: 'SELECT {table:String}', cannotRun: undefined },
        { line: 14, sql: 'DROP TABLE x', cannotRun: 'changes' },
      ],
      examples: { table: 'orders' },
    })
  })

  it.each([
    ['no front matter', '# Parts\n', 'the file must begin with front matter'],
    ['front matter that is no YAML', skill('# P\n', 'name: [\n'), 'line '],
    [
      'a name that differs from its folder',
      skill('# P\n', 'name: part\ndescription: D.\n'),
      'name: "part" differs from the folder "parts"',
    ],
    ['an invalid name', skill('# P\n', 'name: Parts--x\ndescription: D.\n'), 'name: must be lower case'],
    ['no description', skill('# P\n', 'name: parts\n'), 'description: '],
    [
      'a description that is too long',
      skill('# P\n', `name: parts\ndescription: ${'d'.repeat(1_025)}\n`),
      'description',
    ],
    ['an unknown key', skill('# P\n', `${front}colour: red\n`), 'colour'],
    ['unknown metadata', skill('# P\n', `${front}metadata:\n  colour: red\n`), 'metadata.colour'],
    ['no text', skill('\n'), 'no text after the front matter'],
    ['a parameter without an example', skill(sql('SELECT {x:UInt8}')), 'metadata: missing "example.x"'],
    [
      'an example without use',
      skill('# P\n', `${front}metadata:\n  example.x: '1'\n`),
      'metadata.example.x: no statement',
    ],
    ['a block that does not end', skill('# P\n```sql\nSELECT 1\n'), 'line 6: unclosed code block'],
    ['a block in a block', skill('```sql\n```text\n```\n'), 'line 6: nested code block'],
    ['a block without a language', skill('```\nx\n```\n'), 'line 5: invalid code block'],
    ['a missing reason', skill(sql('SELECT 1', 'sql cannot-run:')), 'line 5: invalid code block'],
    ['an empty block', skill(sql('')), 'line 5: empty SQL block'],
  ])('with %s is rejected with the reason', (_, text, problem) => {
    expect(() => parseSkill('parts', text)).toThrow(problem)
  })
})

describe('a directory of skills', () => {
  let directory: string
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'watchhouse-skills-'))
  })
  afterEach(() => rm(directory, { recursive: true }))

  const write = async (folder: string, text: string): Promise<void> => {
    await mkdir(join(directory, folder))
    await writeFile(join(directory, folder, 'SKILL.md'), text)
  }

  it('returns a skill by name, and suggests similar names for an unknown one', async () => {
    await write('parts', skill('# P\n'))
    const { list, load } = await openSkills(directory)
    expect(list()).toEqual([{ name: 'parts', description: 'Counts parts.', digest: load('parts').digest }])
    expect(() => load('part')).toThrow('unknown skill "part"; did you mean "parts"?')
  })

  it('with invalid skills fails to open: the error names each file without its path', async () => {
    await write('parts', '# P\n')
    await mkdir(join(directory, 'empty'))
    await expect(openSkills(directory)).rejects.toMatchObject({
      name: 'ServiceError',
      message: [
        'empty/SKILL.md: cannot be read (ENOENT)',
        'parts/SKILL.md: the file must begin with front matter between two --- lines',
      ].join('\n'),
    })
  })
})
