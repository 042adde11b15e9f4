export type DialogName = 'palette' | 'shortcuts' | 'settings' | 'add-host'

let openDialog = $state<DialogName | null>(null)

/** The open dialog; at most one is open. Its content is loaded on first use. */
export const dialogs = {
  get shown(): DialogName | null {
    return openDialog
  },
  show: (name: DialogName): void => {
    openDialog = name
  },
  /** Closes the named dialog. Does nothing if another one is open, because close events may arrive late. */
  close: (name: DialogName): void => {
    if (openDialog === name) openDialog = null
  },
}
