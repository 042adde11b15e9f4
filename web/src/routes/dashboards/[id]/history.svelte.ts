import type { DashboardContent } from '#proto/dashboards.ts'
import { maxPanels } from './limits.ts'

/** Maximum number of changes that can be undone. */
const maxUndo = 100

/** The content with the changes before and after it. */
interface Timeline {
  past: readonly DashboardContent[]
  content: DashboardContent
  future: readonly DashboardContent[]
}

/** Creates the content of a dashboard that is being edited, with undo and redo. */
export const createHistory = (initial: DashboardContent) => {
  let timeline = $state.raw<Timeline>({ past: [], content: initial, future: [] })
  let saved = $state.raw(initial)
  let announcement = $state('')
  const isChanged = $derived(JSON.stringify(timeline.content) !== JSON.stringify(saved))
  const show = (next: Timeline, said: string): void => {
    timeline = next
    announcement = said
  }
  return {
    get content() {
      return timeline.content
    },
    get isChanged() {
      return isChanged
    },
    /** What the last change did, for screen readers. */
    get announcement() {
      return announcement
    },
    get canUndo() {
      return timeline.past.length > 0
    },
    get canRedo() {
      return timeline.future.length > 0
    },
    get isFull() {
      return timeline.content.panels.length >= maxPanels
    },
    set: (next: DashboardContent, said: string): void => {
      const { past, content } = timeline
      if (JSON.stringify(next) === JSON.stringify(content)) announcement = said
      else show({ past: [...past, content].slice(-maxUndo), content: next, future: [] }, said)
    },
    undo: (): void => show(stepBack(timeline), 'Change undone'),
    redo: (): void => show(stepForward(timeline), 'Change repeated'),
    /** Replaces everything with a saved dashboard, and forgets all changes. */
    reset: (next: DashboardContent): void => {
      timeline = { past: [], content: next, future: [] }
      saved = next
    },
  }
}

const stepBack = ({ past, content, future }: Timeline): Timeline => {
  const before = past.at(-1)
  return before ? { past: past.slice(0, -1), content: before, future: [content, ...future] } : { past, content, future }
}

const stepForward = ({ past, content, future }: Timeline): Timeline => {
  const [next, ...rest] = future
  return next ? { past: [...past, content], content: next, future: rest } : { past, content, future }
}
