import { expect, it } from 'vitest'
import { clockOf } from '#shared/time/clock.ts'
import { openStore } from '#shared/store/open.ts'
import { examineAfterMs, openWaitingEpisodes } from './ledger.ts'

const open = async () => {
  const store = await openStore({ env: {}, busIsShared: false })
  const time = { nowMs: 1_790_000_000_000 }
  const waiting = openWaitingEpisodes(
    store,
    clockOf(() => time.nowMs),
  )
  const examined = async (which: 'due' | 'all', isWaiting: (episode: string) => boolean) => {
    const found: string[] = []
    await waiting.examine(which, async (episode, isDue) => {
      found.push(`${episode}${isDue ? '' : ' early'}`)
      return isWaiting(episode)
    })
    return found.toSorted()
  }
  return { store, time, waiting, examined, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() }
}

it('examines episodes when they are due, and for as long as one waits', async () => {
  await using place = await open()
  const { time, waiting, examined } = place
  await Promise.all(['a', 'b', 'c'].map((episode) => waiting.add(episode)))
  expect(await examined('due', () => false)).toEqual([])
  time.nowMs += examineAfterMs
  expect(await examined('due', (episode) => episode === 'b')).toEqual(['a', 'b', 'c'])
  expect(await examined('due', () => false)).toEqual([])
  time.nowMs += examineAfterMs
  expect(await examined('due', () => false)).toEqual(['b'])
  time.nowMs += examineAfterMs
  expect(await examined('all', () => false)).toEqual([])
})

it('examines all when the queue was lost, and keeps those whose ledger may be under way', async () => {
  await using place = await open()
  const { time, waiting, examined } = place
  await waiting.add('a')
  expect(await examined('all', () => false)).toEqual(['a early'])
  time.nowMs += examineAfterMs
  expect(await examined('due', () => false)).toEqual(['a'])
})

it('keeps an episode that is added while it is examined', async () => {
  await using place = await open()
  const { time, waiting, examined } = place
  await waiting.add('a')
  time.nowMs += examineAfterMs
  await waiting.examine('due', async (episode) => {
    await waiting.add(episode)
    return false
  })
  time.nowMs += examineAfterMs
  expect(await examined('due', () => false)).toEqual(['a'])
})
