import { execFileSync } from 'node:child_process'
import { load } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { isCodeFile, readSource, listRepositoryFiles, root, type SourceFile } from '../testing/source-file.ts'
import { bannedWordExceptions } from './lint-rules/banned-word-exceptions.ts'

/** Banned words and phrases as regular expressions, with their replacements. Vale reads the same file. */
const { swap } = z
  .object({ swap: z.record(z.string(), z.string()) })
  .parse(load(readSource('.ci/vale/Watchhouse/Terms.yml').text))
const terms = Object.entries(swap).map(([pattern, instead]) => ({
  instead,
  text: new RegExp(`(?<![A-Za-z])(?:${pattern})(?![A-Za-z])`, 'gi'),
  /** The pattern for one word of an identifier. Lookaheads for the next words are removed; words are matched alone. */
  part: new RegExp(`^(?:${pattern.replaceAll(/\(\?![^)]*\(.*$/g, '')})$`, 'i'),
}))

interface Finding {
  path: string
  line: string
  word: string
}

const partsOf = (identifier: string): string[] => identifier.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? []

/** Returns every banned word in a file, including banned words in camel-case identifiers. */
const bannedWords = ({ path, text }: SourceFile): Finding[] =>
  text.split('\n').flatMap((line) => {
    const found = terms.flatMap(({ text: pattern }) => line.match(pattern) ?? [])
    const identifiers = line.match(/[A-Za-z]*[a-z][A-Z][A-Za-z]*/g) ?? []
    const inside = identifiers.filter((name) =>
      partsOf(name).some((part) => terms.some((term) => term.part.test(part))),
    )
    return [...found, ...inside].map((word) => ({ path, line: line.trim(), word }))
  })

const isAllowed = ({ path, line, word }: Finding): boolean =>
  bannedWordExceptions.some(
    ({ paths, words }) => paths.test(path) && (words === undefined || words.test(line) || words.test(word)),
  )

const describeFinding = ({ path, line, word }: Finding): string => `${path}: "${word}" in: ${line.slice(0, 120)}`

/** Returns whether a file is handwritten text. */
const isText = (path: string): boolean =>
  (isCodeFile(path) || /\.(md|ya?ml|css|html|tpl|txt|sh|example)$|^\.ci\/|\/NOTES/.test(path)) &&
  !/__snapshots__|\.snap$|^\.ci\/vale\//.test(path)

const files = listRepositoryFiles().filter(isText).map(readSource)

describe('banned words', () => {
  const wordsIn = (text: string): string[] => bannedWords({ path: 'x.ts', text }).map(({ word }) => word)

  it('are found in comments, texts and identifiers', () => {
    expect(wordsIn('// Who is told of it.')).toEqual(['told'])
    expect(wordsIn("throw new Error('nobody was asked')")).toEqual(['asked', 'nobody'])
    expect(wordsIn('const toldAtMs = settleAlert(1)')).toEqual(['toldAtMs', 'settleAlert'])
    expect(wordsIn('title: Ask the agent about this page')).toEqual([])
    expect(wordsIn('const task = flask(basket)')).toEqual([])
  })

  const found = files.flatMap(bannedWords).filter((finding) => !isAllowed(finding))

  it('occur in no file', () => {
    expect(found.map(describeFinding)).toEqual([])
  })

  it('have no unused exception', () => {
    const findings = files.flatMap(bannedWords)
    const unused = bannedWordExceptions.filter(
      ({ paths, words }) =>
        !findings.some(({ path, line, word }) => paths.test(path) && (!words || words.test(line) || words.test(word))),
    )
    expect(unused.map(({ reason }) => reason)).toEqual([])
  })
})

describe('names', () => {
  const declared = files
    .filter(({ path }) => isCodeFile(path))
    .flatMap(({ path, text }) =>
      [...text.matchAll(/^export (?:default )?(?:async )?(const|function|class|interface|type) (\w+)/gm)].map(
        ([, kind = '', name = '']) => ({ path, kind, name }),
      ),
    )

  it('use max for limits', () => {
    const limits = files
      .filter(({ path }) => isCodeFile(path))
      .flatMap(({ path, text }) =>
        (text.match(/\b(?:most|longest)(?!Common|Recent|Severe|Used|Ms\b)[A-Z]\w*/g) ?? []).map(
          (name) => `${path} ${name}`,
        ),
      )
    expect(limits).toEqual([])
  })

  it('of types are nouns, not participles', () => {
    const participles =
      /^(?:Told|Given|Settled|Kept|Taken|Begun|Known|Shown|Found|Said|Held|Meant|Sent|Done|Gone|Made|[A-Z][a-z]+(?:ed|ing))$/
    const nouns =
      /^(?:Setting|Finding|Reading|Heading|Grouping|Routing|Pricing|Warning|Listing|Encoding|Mapping|Feed|Seed|Embed|Ping|String|Thing|Speed|Need|Ring|Billing)$/
    const types = declared.filter(({ kind }) => /class|interface|type/.test(kind))
    const bare = types.filter(({ name }) => participles.test(name) && !nouns.test(name))
    expect(bare.map(({ path, name }) => `${path} ${name}`)).toEqual([])
  })
})

describe('commits', () => {
  /** The last commit to which the rules for subjects do not apply. */
  const before = '88b369f8'
  const subjects = execFileSync('git', ['log', '--no-merges', '--format=%s', `${before}..HEAD`], { cwd: root })
    .toString()
    .trim()
    .split('\n')

  /** Returns whether a subject is an area and an imperative. Past tense, third person and gerund are rejected. */
  const isImperative = (subject: string): boolean => {
    const verb = /^[a-z0-9][a-z0-9., -]*: ([a-z]+)(?:[ ,]|$)/.exec(subject)?.[1]
    return verb !== undefined && !/(?:[^e]ed|(?<!br|p)ing|[^su]s)$/.test(verb)
  }

  it('with an imperative subject are recognized', () => {
    expect(isImperative('web: group identical conditions across hosts')).toBe(true)
    expect(isImperative('alerts, web: pass the host')).toBe(true)
    expect(isImperative('web: grouped identical conditions')).toBe(false)
    expect(isImperative('what every request costs: settings are not compared')).toBe(false)
  })

  it('have an imperative subject of at most 72 characters', () => {
    expect(subjects.filter((subject) => subject.length > 72 || !isImperative(subject))).toEqual([])
  })
})
