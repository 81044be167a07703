"""Records of sources: outcomes of phases, decisions and corrections."""
