import { gridColumns } from './limits.ts'

/** The place of a panel in the grid, in cells. */
export interface Place {
  id: string
  x: number
  y: number
  w: number
  h: number
}

/** Minimum size of a panel, in cells. */
export const minimumSize = { w: 2, h: 2 }
const maxHeight = 100

const overlaps = (a: Place, b: Place): boolean =>
  a.id !== b.id && a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h

const byPosition = (a: Place, b: Place): number => a.y - b.y || a.x - b.x

const clamp = (value: number, min: number, max: number): number => Math.max(min, Math.min(max, value))

/** Returns panels in reading order: by row, then by column. */
export const sortPlaces = <P extends Place>(panels: readonly P[]): P[] => panels.toSorted(byPosition)

/** Returns the first row below all panels. */
export const findEnd = (panels: readonly Place[]): number => Math.max(0, ...panels.map(({ y, h }) => y + h))

/**
 * Moves panels up into free space. A panel with priority keeps its place, and pushes down those that overlap it. The
 * order of the list is kept.
 */
export const compact = <P extends Place>(panels: readonly P[], priority?: string): P[] => {
  const placed: P[] = panels.filter(({ id }) => id === priority)
  for (const panel of sortPlaces(panels)) {
    if (panel.id === priority) continue
    let { y } = panel
    while (y > 0 && !findBlocker({ ...panel, y: y - 1 }, placed)) y -= 1
    for (let below = findBlocker({ ...panel, y }, placed); below; below = findBlocker({ ...panel, y }, placed))
      y = below.y + below.h
    placed.push({ ...panel, y })
  }
  const found = new Map(placed.map((panel) => [panel.id, panel]))
  return panels.map((panel) => found.get(panel.id) ?? panel)
}

const findBlocker = (panel: Place, placed: readonly Place[]): Place | undefined =>
  placed.find((each) => overlaps(panel, each))

const replace = <P extends Place>(panels: readonly P[], id: string, change: (panel: P) => P): P[] =>
  compact(
    compact(
      panels.map((panel) => (panel.id === id ? change(panel) : panel)),
      id,
    ),
  )

/** Moves a panel to a column and row; others make room and close gaps. */
export const movePanel = <P extends Place>(panels: readonly P[], id: string, x: number, y: number): P[] =>
  replace(panels, id, (panel) => ({ ...panel, x: clamp(x, 0, gridColumns - panel.w), y: Math.max(0, y) }))

/** Sets the size of a panel; others make room and close gaps. */
export const resizePanel = <P extends Place>(panels: readonly P[], id: string, w: number, h: number): P[] =>
  replace(panels, id, (panel) => ({
    ...panel,
    w: clamp(w, minimumSize.w, gridColumns - panel.x),
    h: clamp(h, minimumSize.h, maxHeight),
  }))

/**
 * Moves a panel by one step of the keyboard. To the left and right it moves by a column; up and down it changes places
 * with the panel there, because gaps are closed.
 */
export const stepPanel = <P extends Place>(panels: readonly P[], id: string, dx: number, dy: number): P[] => {
  const panel = panels.find((each) => each.id === id)
  if (!panel) return [...panels]
  if (dx !== 0) return movePanel(panels, id, panel.x + dx, panel.y)
  const isInColumn = (each: Place) => each.id !== id && each.x < panel.x + panel.w && panel.x < each.x + each.w
  const inColumn = sortPlaces(panels.filter(isInColumn))
  const above = inColumn.findLast(({ y, h }) => y + h <= panel.y)
  const below = inColumn.find(({ y }) => y >= panel.y + panel.h)
  if (dy < 0) return above ? movePanel(panels, id, panel.x, above.y) : [...panels]
  if (!below) return [...panels]
  // The panel below takes the place of this one, which then follows it.
  const raised = panels.map((each) => (each.id === below.id ? { ...each, y: panel.y } : each))
  return compact(
    compact(
      raised.map((each) => (each.id === id ? { ...each, y: panel.y + below.h } : each)),
      below.id,
    ),
  )
}

/** Returns the first free place for a panel of this size, at the right of the last row or below. */
export const findFreePlace = (panels: readonly Place[], w: number, h: number): Pick<Place, 'x' | 'y'> => {
  const end = findEnd(panels)
  for (let y = 0; y < end; y += 1) {
    for (let x = 0; x + w <= gridColumns; x += 1) {
      if (!panels.some((each) => overlaps({ id: '', x, y, w, h }, each))) return { x, y }
    }
  }
  return { x: 0, y: end }
}
