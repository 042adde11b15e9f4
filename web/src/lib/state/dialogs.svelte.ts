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
  /** Closes a dialog. A close event may arrive after another dialog was opened, which then stays open. */
  close: (name: DialogName): void => {
    if (openDialog === name) openDialog = null
  },
}
