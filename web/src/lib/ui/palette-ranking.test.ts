import { describe, expect, it } from 'vitest'
import { rankEntries } from './palette-ranking.ts'

const entries = [
  { id: 'slow', title: 'Slow queries', searchTerms: 'statements' },
  { id: 'running', title: 'Running queries' },
  { id: 'merges', title: 'Running merges' },
  { id: 'statement', title: `SELECT status, count() FROM shop.orders WHERE ${'x'.repeat(60)}` },
]

/** Scores a title that contains the letters of a text in order. Shorter titles score higher. */
const scoreTitle = (title: string, text: string): number => {
  let rest = text.toLowerCase()
  for (const letter of title.toLowerCase()) if (rest.startsWith(letter)) rest = rest.slice(1)
  return rest === '' ? 1 / title.length : 0
}
const ids = (typed: string) => rankEntries(entries, typed, scoreTitle).map(({ id }) => id)

describe('ranking of palette entries', () => {
  it.each([
    ['slow', ['slow']],
    ['running', ['running', 'merges']],
    ['slwq', ['slow']],
    ['rnning mer', ['merges']],
    ['runing', ['merges', 'running']],
    ['statements', ['slow']],
    ['orders', ['statement']],
    ['s', ['slow', 'statement', 'running', 'merges']],
    ['', ['slow', 'running', 'merges', 'statement']],
  ])('%j finds %j', (typed, expected) => expect(ids(typed)).toEqual(expected))

  it('leaves out titles with a low score, and does not compare long titles or texts', () => {
    expect(rankEntries(entries, 'rnning', () => 0.01)).toEqual([])
    const compared: string[] = []
    rankEntries(entries, 'rnning', (title) => compared.push(title))
    expect(compared).toEqual(['Slow queries', 'Running queries', 'Running merges'])
    expect(rankEntries(entries, 'r'.repeat(30), () => 1)).toEqual([])
  })

  it('lists entries that contain the text before similar ones', () => {
    const found = rankEntries(
      [
        { id: 'similar', title: 'Keeper presence' },
        { id: 'exact', title: 'Peers', searchTerms: 'keepr' },
      ],
      'keepr',
      scoreTitle,
    )
    expect(found.map(({ id }) => id)).toEqual(['exact', 'similar'])
  })
})
