export type DialogName = 'palette' | 'shortcuts' | 'settings' | 'add-host'

let shown = $state<DialogName | null>(null)

/** The open dialog; at most one is open. Its content is loaded on first use. */
export const dialogs = {
  get shown(): DialogName | null {
    return shown
  },
  show: (name: DialogName): void => {
    shown = name
  },
  /** The event of a closed dialog is late, and another one may be open by then. */
  close: (name: DialogName): void => {
    if (shown === name) shown = null
  },
}
