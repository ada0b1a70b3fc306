export const macros = []
