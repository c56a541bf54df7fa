// An empty module for those of Node that TVM's runtime requires but does not use in pages.
export default {};
