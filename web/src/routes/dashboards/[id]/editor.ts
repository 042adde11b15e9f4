import type { DashboardContent, DashboardPanel } from '#proto/dashboards.ts'
import { createRandomId } from '#lib/ui/random-id.ts'
import { compact, findFreePlace, movePanel, resizePanel, stepPanel } from './grid-layout.ts'
import { createHistory } from './history.svelte.ts'

/** Omits fields from each member of a union. */
type OmitFromEach<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never

/** A panel without its place, which the editor chooses. */
export type NewPanel = OmitFromEach<DashboardPanel, 'id' | 'x' | 'y'>

const idLength = 8
const createPanelId = (): string => `p-${createRandomId().slice(0, idLength)}`

/** Creates the editor of a dashboard: its content with undo, and functions that change its panels. */
export const createEditor = (initial: DashboardContent) => {
  const history = createHistory(initial)
  const setPanels = (panels: readonly DashboardPanel[], said: string) =>
    history.set({ ...history.content, panels: [...panels] }, said)
  const find = (id: string) => history.content.panels.find((panel) => panel.id === id)
  const arrange = (panels: readonly DashboardPanel[], id: string, name: string) =>
    setPanels(panels, describePlace(panels, id, name))

  return Object.assign(history, {
    arrange,
    /** Adds a panel in free space and returns its id. */
    add: (panel: NewPanel, name: string): string => {
      const id = createPanelId()
      const { panels } = history.content
      setPanels([...panels, { ...panel, ...findFreePlace(panels, panel.w, panel.h), id }], `${name} added`)
      return id
    },
    update: (panel: DashboardPanel) =>
      setPanels(
        history.content.panels.map((each) => (each.id === panel.id ? panel : each)),
        'Panel changed',
      ),
    duplicate: (id: string, name: string) => {
      const panel = find(id)
      if (!panel || history.isFull) return
      const { panels } = history.content
      const copy = { ...panel, ...findFreePlace(panels, panel.w, panel.h), id: createPanelId() }
      setPanels([...panels, copy], `${name} duplicated`)
    },
    remove: (id: string, name: string) =>
      setPanels(compact(history.content.panels.filter((panel) => panel.id !== id)), `${name} removed`),
    /** Moves a panel by columns, or past the panel above or below. */
    step: (id: string, dx: number, dy: number, name: string) =>
      arrange(stepPanel(history.content.panels, id, dx, dy), id, name),
    grow: (id: string, dw: number, dh: number, name: string) => {
      const panel = find(id)
      if (panel) arrange(resizePanel(history.content.panels, id, panel.w + dw, panel.h + dh), id, name)
    },
    /** Returns the panels after a move or a change of size, without applying it. */
    moved: (id: string, x: number, y: number) => movePanel(history.content.panels, id, x, y),
    resized: (id: string, w: number, h: number) => resizePanel(history.content.panels, id, w, h),
  })
}

const describePlace = (panels: readonly DashboardPanel[], id: string, name: string): string => {
  const place = panels.find((panel) => panel.id === id)
  return place
    ? `${name}: column ${place.x + 1}, row ${place.y + 1}, ${place.w} columns wide, ${place.h} rows high`
    : ''
}

export type DashboardEditor = ReturnType<typeof createEditor>
