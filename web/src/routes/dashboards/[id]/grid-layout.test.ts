import { describe, expect, it } from 'vitest'
import { compact, findFreePlace, movePanel, resizePanel, stepPanel, type Place } from './grid-layout.ts'

const place = (id: string, x: number, y: number, w = 6, h = 4): Place => ({ id, x, y, w, h })
const at = (panels: readonly Place[]) => Object.fromEntries(panels.map(({ id, x, y, w, h }) => [id, [x, y, w, h]]))
const hasOverlap = (panels: readonly Place[]) =>
  panels.some((a) =>
    panels.some((b) => a.id !== b.id && a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h),
  )

describe('the grid', () => {
  const two = [place('a', 0, 0), place('b', 6, 0)]
  const three = [...two, place('c', 0, 4, 12)]

  it('closes gaps, and keeps the order of the list', () => {
    const panels = compact([place('b', 0, 9), place('a', 0, 2)])
    expect(panels.map(({ id, y }) => [id, y])).toEqual([
      ['b', 4],
      ['a', 0],
    ])
  })

  it('pushes other panels down when one moves onto them', () => {
    expect(at(movePanel(two, 'b', 0, 0))).toEqual({ a: [0, 4, 6, 4], b: [0, 0, 6, 4] })
  })

  it('keeps panels inside of its columns', () => {
    expect(at(movePanel(two, 'a', 40, 0))['a']).toEqual([6, 0, 6, 4])
    expect(at(movePanel(two, 'b', -3, -3))['b']).toEqual([0, 0, 6, 4])
    expect(at(resizePanel(two, 'b', 40, 400))['b']).toEqual([6, 0, 6, 100])
    expect(at(resizePanel(two, 'b', 0, 0))['b']).toEqual([6, 0, 2, 2])
  })

  it('makes room for a larger panel', () => {
    expect(at(resizePanel(three, 'a', 12, 4))).toEqual({ a: [0, 0, 12, 4], b: [6, 4, 6, 4], c: [0, 8, 12, 4] })
  })

  it('changes places with the panel above or below by keyboard', () => {
    const down = stepPanel(three, 'a', 0, 1)
    expect(at(down)['c']?.[1]).toBeLessThan(at(down)['a']?.[1] ?? 0)
    const up = stepPanel(three, 'c', 0, -1)
    expect(at(up)).toEqual({ a: [0, 4, 6, 4], b: [6, 4, 6, 4], c: [0, 0, 12, 4] })
    expect(stepPanel(three, 'c', 0, 1)).toEqual(three)
    expect(stepPanel(three, 'a', 0, -1)).toEqual(three)
  })

  it('finds the first free place', () => {
    expect(findFreePlace([place('a', 0, 0)], 6, 4)).toEqual({ x: 6, y: 0 })
    expect(findFreePlace(two, 6, 4)).toEqual({ x: 0, y: 4 })
    expect(findFreePlace([], 12, 4)).toEqual({ x: 0, y: 0 })
  })

  it('never lets panels overlap', () => {
    let panels = [place('a', 0, 0, 5, 3), place('b', 5, 0, 4, 7), place('c', 9, 0, 3, 2), place('d', 0, 3, 5, 5)]
    for (let step = 0; step < 200; step += 1) {
      const id = 'abcd'.charAt(step % 4)
      const [x, y] = [(step * 7) % 12, (step * 5) % 15]
      panels = step % 3 === 0 ? resizePanel(panels, id, 1 + x, 1 + y) : movePanel(panels, id, x, y)
      panels = stepPanel(panels, id, (step % 2) * 2 - 1, 0)
      panels = stepPanel(panels, id, 0, ((step >> 1) % 2) * 2 - 1)
      expect(hasOverlap(panels)).toBe(false)
    }
  })
})
