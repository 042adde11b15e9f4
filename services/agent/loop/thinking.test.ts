import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openThinkingSplitter, removeThinking } from './thinking.ts'

const split = (deltas: readonly string[]) => {
  const splitter = openThinkingSplitter()
  const pieces = [...deltas.flatMap((delta) => splitter.push(delta)), ...splitter.end()]
  const join = (kind: string) => pieces.map((piece) => (piece.kind === kind ? piece.text : '')).join('')
  return { text: join('text'), reasoning: join('reasoning') }
}

describe('the reasoning of a response', () => {
  it.each([
    ['at the beginning', '<think>Hm.</think>\n\nFive.', 'Five.', 'Hm.'],
    ['with the longer tag', '<thinking>\nHm.</thinking> Five.', 'Five.', 'Hm.'],
    ['in capitals', '<THINK>Hm.</Think>Five.', 'Five.', 'Hm.'],
    ['in the middle of a line', 'Five. <think>Hm.</think>Six.', 'Five. Six.', 'Hm.'],
    ['several times', '<think>a</think>b<think>c</think>d', 'bd', 'ac'],
    ['that is not closed', 'Five.<think>Hm. </thin', 'Five.', 'Hm. </thin'],
    ['that is quoted', 'The tag `<think>` is shown.', 'The tag `<think>` is shown.', ''],
    ['that is missing', 'a < b, <thinner> and <th', 'a < b, <thinner> and <th', ''],
  ])('%s is separated from its text, wherever the stream splits it', (_what, response, text, reasoning) => {
    fc.assert(
      fc.property(fc.array(fc.nat(response.length), { maxLength: 12 }), (cuts) => {
        const places = [0, ...cuts.toSorted((a, b) => a - b), response.length]
        const deltas = places.slice(1).map((end, index) => response.slice(places[index], end))
        expect(split(deltas)).toEqual({ text, reasoning })
      }),
    )
    expect(split([...response])).toEqual({ text, reasoning })
    expect(removeThinking(response)).toBe(text)
  })

  it('does not delay text that cannot begin a tag', () => {
    expect(openThinkingSplitter().push('It is <b>well')).toEqual([{ kind: 'text', text: 'It is <b>well' }])
  })
})
